export MODEL=${1:-/models/default}
PORT=${2:-30000}
shift || true
exec server --model $MODEL --port $PORT "$@"
