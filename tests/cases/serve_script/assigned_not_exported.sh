KNOB=256
SECOND=x
export SECOND
exec server --knob $KNOB
