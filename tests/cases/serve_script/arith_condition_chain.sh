N=8
if (( N >= 8 )) && [[ $((N % 2)) == 0 ]]; then export EVEN=1; fi
(( N > 10 )) || export SMALL=1
server
