TP=4
EXTRA=()
while [ $# -gt 0 ]; do
  case $1 in
    --tp) TP=$2; shift 2 ;;
    *) EXTRA+=("$1"); shift ;;
  esac
done
exec server --tp $TP "${EXTRA[@]}"
