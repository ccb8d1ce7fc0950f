#: unknown word
GPUS=$(nvidia-smi -L | wc -l)
TP=$((GPUS / 2))
exec server --tp $TP --port 30000 --dp $((TP + 1))
