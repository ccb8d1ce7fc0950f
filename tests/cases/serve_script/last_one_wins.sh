export KNOB=128
# export KNOB=256
export KNOB=512 # was 128
# KNOB=1
exec server --flag
