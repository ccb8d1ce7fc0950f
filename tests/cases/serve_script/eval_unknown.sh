#: unknown open
export BEFORE=1
eval "$(cat /dev/null)"
export AFTER=2
exec server --tp 4
