export KEEP=1
KNOB=2 KEEP=3 server --one
server --two
A=1 B=$A server --three
