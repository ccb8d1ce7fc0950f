#: file lib.sh [ -n "$GUARD" ] && return 0\nGUARD=1\nexport N=$((N+1))\n
N=0
. @DIR@/lib.sh
. @DIR@/lib.sh
server
