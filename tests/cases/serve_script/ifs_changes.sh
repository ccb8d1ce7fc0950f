IFS=,
V=a,b,,c
server $V "$V"
IFS=
server $V
unset IFS
server $V x
IFS=$' \t\n'
ARR=(1 2 3)
IFS=: ; export J="${ARR[*]}"
server
