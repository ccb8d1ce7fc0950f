N=0
while true; do
  N=$((N+1))
  if [ $N -eq 3 ]; then continue; fi
  [ $N -gt 4 ] && break
done
export N
server
