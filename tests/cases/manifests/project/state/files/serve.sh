#!/bin/bash
export NCCL_DEBUG=WARN
exec python3 -m sglang.launch_server --tp 4
