export A=1
server --prefill --port 1 &
PREFILL=$!
A=2
server --decode --port 2 > decode.log 2>&1 &
trap 'kill $PREFILL' EXIT INT TERM
A=3
router --prefill http://localhost:1 --decode http://localhost:2
wait
