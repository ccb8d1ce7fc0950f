ARGS=(
  --model-path "/models/with space"
  --tp 8   # comment
  --json '{"x": 1}'
)
ARGS+=(--port 30000)
ARGS[1]=/models/other
N=${#ARGS[@]}
export N
exec python3 -m sglang.launch_server "${ARGS[@]}"
