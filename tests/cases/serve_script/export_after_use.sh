export OTHER=$KNOB
KNOB=5
export KNOB
exec server
