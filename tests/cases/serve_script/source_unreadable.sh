#: unknown TP open
export BEFORE=1
source /nonexistent/venv/bin/activate
export KNOB=512
TP=4
exec server --tp $TP
