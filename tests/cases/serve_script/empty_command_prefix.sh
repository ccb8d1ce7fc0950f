EMPTY=
K=1 $EMPTY
export K
server
