server --main &
PID=$!
until curl -sf http://localhost:30000/health > /dev/null; do sleep 1; done
export READY=1
router --backend http://localhost:30000
wait $PID
