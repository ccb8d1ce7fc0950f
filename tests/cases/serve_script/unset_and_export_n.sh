export A=1 B=2 C=3 D=4
unset A
export -n B
declare +x C
unset -v D
D=5
server
