#: caller KEEP=1 CHANGE=2 DROP=3
CHANGE=22
unset DROP
NEW=4
exec server "$KEEP" "$CHANGE" "${DROP:-gone}"
