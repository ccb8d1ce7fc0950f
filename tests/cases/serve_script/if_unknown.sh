#: unknown KNOB
if [ -e /some/file/there ]; then
  export KNOB=1
  export SAME=5
else
  export KNOB=2
  export SAME=5
fi
exec server --same $SAME
