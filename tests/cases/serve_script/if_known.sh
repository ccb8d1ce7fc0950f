MODE=decode
if [ "$MODE" = prefill ]; then
  export KNOB=1
elif [[ $MODE == dec* ]]; then
  export KNOB=2
else
  export KNOB=3
fi
if [[ -n "$MODE" && ! -z $KNOB ]]; then export BOTH=1; fi
if [ -z "${NOPE:-}" ]; then export NONE=1; fi
exec server
