export SGLANG_COMMON=1
MODEL=/models/dsv4
CUDA_VISIBLE_DEVICES=0 python3 -m sglang.launch_server --model-path $MODEL --disaggregation-mode prefill --port 30000 &
CUDA_VISIBLE_DEVICES=1 python3 -m sglang.launch_server --model-path $MODEL --disaggregation-mode decode --port 30001 &
python3 -m sglang_router.launch_router --pd-disaggregation --prefill http://127.0.0.1:30000 --decode http://127.0.0.1:30001
wait
