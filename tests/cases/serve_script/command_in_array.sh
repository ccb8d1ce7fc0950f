CMD=(python3 -m sglang.launch_server --name "two words")
[[ 1 -eq 1 ]] && CMD+=(--yes)
"${CMD[@]}"
exec "${CMD[@]}" --exec
