export A=${X:-${Y:-deep}} B="${X:-$(echo out)}" C=${X:-a${Y:-b}c}
server ${A:+--a "$A"} ${NONE:+--none "$NONE"}
