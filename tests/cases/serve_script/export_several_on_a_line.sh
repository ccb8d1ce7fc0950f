#!/usr/bin/env bash
export A=1 B="two words" C='$literal' D= E
export NCCL_DEBUG=INFO NCCL_IB_DISABLE=1
python3 -m vllm.entrypoints.openai.api_server --port 8000
