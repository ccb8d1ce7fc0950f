#!/bin/bash
export SGLANG_SM120_MMA_TARGET_CTAS=512
export SGLANG_OPT_USE_MULTI_STREAM_OVERLAP=0
exec python3 -m sglang.launch_server --model-path /models/dsv4 --tp 4 --disable-overlap-schedule
