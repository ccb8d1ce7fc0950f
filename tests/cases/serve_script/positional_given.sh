#: args /m "two words" --tp 4
MODEL=$1
NAME="$2"
shift 2
export COUNT=$# ALL="$*"
exec server --model "$MODEL" --name "$NAME" "$@" "${@:2}" $1
