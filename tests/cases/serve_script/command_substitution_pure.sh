X=$(echo hello world)
Y=$(printf '%s-%02d' node 7)
Z="pre-$(echo mid)-post"
export X Y Z
server $(echo --tp 4) "$(echo one two)"
