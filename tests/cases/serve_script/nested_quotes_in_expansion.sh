X="a b"
Y="${X:-"c d"}"
Z="${UNSET_A:-"c  d"}"
W=${UNSET_B:-"e  f" g}
V="${UNSET_C:-'quoted'}"
U=${UNSET_D:-'quoted  q'}
export X Y Z W V U
server ${UNSET_E:-"one word" two} "${UNSET_F:-"three four"}"
