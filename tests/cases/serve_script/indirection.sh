VAR=TARGET
TARGET=value
export GOT=${!VAR}
for name in ONE TWO; do printf -v "K_$name" '%s-%d' "$name" 5; done
export K_ONE K_TWO
server
