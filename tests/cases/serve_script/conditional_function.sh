if [ -e /nonexistent ]; then
  start() { server --a; }
else
  start() { server --b; }
fi
start
