declare -x A=1
typeset -x B=2
readonly C=3
export C
declare -rx D=4
declare E=5
declare -i N=7
export E N
export -- F=6
server
