printf -v PORT '%d' 30000
read -r FIRST SECOND <<< "a b"
read -r WHOLE <<< "only one line"
#: unknown FIRST SECOND
export PORT WHOLE FIRST SECOND
server
