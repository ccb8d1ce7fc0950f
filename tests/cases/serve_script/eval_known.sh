CMD='server --tp 4 --name "a b"'
eval "$CMD --port 1"
eval export KNOB=7
eval 'X=$((1+2)); export X'
server
