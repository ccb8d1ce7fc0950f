#: unknown TRIES
TRIES=0
while ! grep -q ready /nonexistent/status 2>/dev/null; do
  TRIES=$((TRIES+1))
  [ $TRIES -ge 3 ] && break
done
export TRIES FIXED=1
server
