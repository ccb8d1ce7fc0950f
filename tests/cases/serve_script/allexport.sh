A=0
set -a
B=1
C=2 D=3
set +a
E=4
set -o allexport
F=5
set +o allexport
server
