export A=1
export B="two"
server --tp 4
