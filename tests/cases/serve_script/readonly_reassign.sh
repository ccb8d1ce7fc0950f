#: unknown A open
readonly A=1
A=2
export A
export B=3
server
