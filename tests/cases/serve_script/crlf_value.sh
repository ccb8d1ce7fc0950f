export A=1
exec server --tp 4
