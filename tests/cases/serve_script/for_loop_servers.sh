for PORT in 8001 8002 8003; do
  CUDA_VISIBLE_DEVICES=$((PORT - 8001)) server --port $PORT &
done
wait
