server $NOPE "$NOPE" --x=$NOPE a${NOPE}b
