#: args --tp 8 --verbose --model /m
TP=4 MODEL=none VERBOSE=0
while [[ $# -gt 0 ]]; do
  case "$1" in
    --tp) TP="$2"; shift 2 ;;
    --model) MODEL="$2"; shift 2 ;;
    --verbose|-v) VERBOSE=1; shift ;;
    *) echo "unknown $1"; exit 1 ;;
  esac
done
export TP VERBOSE
exec server --model "$MODEL" --tp $TP
