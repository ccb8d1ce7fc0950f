MODEL=/models/llama
TP=8
export MODEL
export TP
vllm serve "$MODEL" --tensor-parallel-size "$TP"
