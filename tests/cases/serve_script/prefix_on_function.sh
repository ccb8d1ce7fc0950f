f() { server --f "$K"; }
K=1 f
server --after "${K:-none}"
