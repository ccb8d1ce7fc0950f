export PORT=${PORT:-30000} HOST="${HOST:-0.0.0.0}" TP=${TP-4}
export EMPTY= ; export A=${EMPTY:-x} B=${EMPTY-y} C=${EMPTY:+z} D=${PORT:+set}
: "${MODEL:=/models/default}" "${CTX=8192}"
export MODEL
exec server --port "$PORT" --host $HOST --model $MODEL --ctx ${CTX} --mem "${MEM:-0.9}"
