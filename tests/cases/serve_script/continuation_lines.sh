#!/bin/bash
export A=1
exec python3 -m sglang.launch_server \
  --model-path /m \
  --tp 4 \
    --host 0.0.0.0 \
	--port 30000
