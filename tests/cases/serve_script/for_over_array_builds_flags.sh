MODELS=(a b c)
FLAGS=""
for m in "${MODELS[@]}"; do FLAGS="$FLAGS --lora $m=/l/$m"; done
server $FLAGS
