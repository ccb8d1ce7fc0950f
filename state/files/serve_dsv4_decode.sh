#!/bin/bash
# Serves DeepSeek V4 for decode on this node. The unit sglang-dsv4-decode.service runs it.
set -euo pipefail

export PATH=/root/venv/bin:$PATH

# SM120: 512 CTAs keep every SM busy at batch sizes 1 to 4.
# export SGLANG_SM120_MMA_TARGET_CTAS=256
export SGLANG_SM120_MMA_TARGET_CTAS=512
export SGLANG_OPT_USE_MULTI_STREAM_OVERLAP=0
export CUDA_VISIBLE_DEVICES="0,1,2,3"

exec python3 -m sglang.launch_server \
  --model-path /models/deepseek-v4 \
  --served-model-name dsv4 \
  --host 127.0.0.1 \
  --port 30000 \
  --tp 4 \
  --dist-init-addr 127.0.0.1:5000 \
  --mem-fraction-static 0.90 \
  --cuda-graph-bs 1 2 4 \
  --disable-overlap-schedule
