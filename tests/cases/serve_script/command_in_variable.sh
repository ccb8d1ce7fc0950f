CMD="python3 -m sglang.launch_server --tp 4"
CMD="$CMD --port 30000"
CMD+=" --host 0.0.0.0"
$CMD
exec $CMD --last
