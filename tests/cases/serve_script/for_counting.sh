for ((i = 0; i < 2; i++)); do
  export RANK=$i
  worker --rank $i --port $((9000 + i)) &
done
for i in {1..3}; do LAST=$i; done
export LAST
wait
server
