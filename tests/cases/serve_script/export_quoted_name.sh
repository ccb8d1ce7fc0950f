NAME=KNOB
export "$NAME=5" "OTHER=a b"
export ${NAME}_2=6
server
