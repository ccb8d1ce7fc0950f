N=0
while (( N < 5 )); do N=$((N+1)); done
until [ $N -ge 8 ]; do ((N++)); done
export N
server
