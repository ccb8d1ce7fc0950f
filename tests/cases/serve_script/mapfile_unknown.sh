#: unknown word
mapfile -t LINES_OF < /dev/null
export AFTER=1
server "${LINES_OF[@]}" --tp 4
