#: unknown word
export A=1
B=2
bash -c 'export C=3; server --in "$0" "$1" "${B:-none}"' zero one
bash -c "server --b $B" &
wait
