export KNOB=1
KNOB=2
KNOB+=3
exec server
