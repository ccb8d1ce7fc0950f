#: unknown GPU FAILED
GPU=$(nvidia-smi -L) || GPU=none
export GPU
if ! OUT=$(false); then export FAILED=1; fi
server
