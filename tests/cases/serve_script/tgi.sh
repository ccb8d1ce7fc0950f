export HF_HUB_ENABLE_HF_TRANSFER=1
model=mistral
volume=$PWD/data
#: unknown word
text-generation-launcher --model-id $model --num-shard 2 --data "$volume"
