if false; then export A=1; fi
f() { export B=1; server --never; }
exec server --tp 4
export C=3
server --after
