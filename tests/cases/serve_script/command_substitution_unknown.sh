#: unknown WHEN IP word
export WHEN=$(date +%s)
export IP=$(hostname | head -1)
export KNOWN=1
server --host "$(hostname)" --log "/logs/$(date +%F).log" --tp 4
