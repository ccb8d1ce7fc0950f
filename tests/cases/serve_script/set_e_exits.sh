set -e
export A=1
if false; then export B=2; fi
false || true
[ a = b ] && export C=3
server --reached
false
server --not-reached
