#!/bin/bash
export LLAMA_ARG_THREADS=16 GGML_CUDA_FORCE_MMQ=1
MODEL_DIR=/models
MODEL="$MODEL_DIR/qwen3.gguf"
exec llama-server -m "$MODEL" -ngl 99 -c 32768 --host 0.0.0.0 --port 8080 -fa on --temp 0.7 --override-tensor "exps=CPU"
