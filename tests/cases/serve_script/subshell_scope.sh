export A=1
( export A=2; B=3; export B; server --inner )
(cd /tmp && server --in-dir)
server --outer "${B:-none}"
