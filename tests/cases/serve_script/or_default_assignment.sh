MODEL=${MODEL:-}
[ -z "$MODEL" ] && MODEL=/models/x
[[ -n "${TP:-}" ]] || TP=4
export TP
server --model "$MODEL"
