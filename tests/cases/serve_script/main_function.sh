#!/bin/bash
set -euo pipefail
readonly PORT=30000
log() { echo "[$(date)] $*" >&2; }
start_server() {
  local model="$1"; shift
  log "starting $model"
  exec python3 -m sglang.launch_server --model-path "$model" --port "$PORT" "$@"
}
main() {
  export NCCL_DEBUG=WARN
  start_server /models/x --tp 4 --trust-remote-code
}
main "$@"
