target=1
declare -n ref=target
ref=2
export target
server "$ref"
