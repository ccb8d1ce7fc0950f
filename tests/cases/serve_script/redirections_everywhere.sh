{ export A=1; server --one; } > out.log 2>&1
if true; then server --two; fi > other.log
>/dev/null server --three 2>&1 < /dev/null
server --four &> all.log
