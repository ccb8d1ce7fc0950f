SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$SCRIPT_DIR"
LOG_DIR=$SCRIPT_DIR/logs
#: unknown word
mkdir -p "$LOG_DIR"
export KNOB=3
exec server --log "$LOG_DIR/x" --tp 4
