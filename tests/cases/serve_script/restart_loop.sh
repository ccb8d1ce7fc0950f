#: seconds 1
export KNOB=1
while :; do
  server --loop
  sleep 5
done
