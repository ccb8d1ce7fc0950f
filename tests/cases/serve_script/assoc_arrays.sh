declare -A M=([tp]=4 [model]=/m)
M[port]=30000
KEY=tp
export TP=${M[$KEY]} MODEL=${M[model]} NONE=${M[none]:-x}
server --port "${M[port]}"
