NNODES=${NNODES:-2}
NODE_RANK=${NODE_RANK:-0}
MASTER_ADDR=${MASTER_ADDR:-127.0.0.1}
torchrun --nnodes=$NNODES --node-rank=${NODE_RANK} --master-addr $MASTER_ADDR -m sglang.launch_server --dist-init-addr "${MASTER_ADDR}:5000"
