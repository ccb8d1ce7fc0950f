#: args -p 9000 -v -m /m rest
PORT=30000
while getopts "p:m:vh" opt; do
  case $opt in
    p) PORT=$OPTARG ;;
    m) MODEL=$OPTARG ;;
    v) export VERBOSE=1 ;;
    *) exit 1 ;;
  esac
done
exec server --port $PORT --model $MODEL
