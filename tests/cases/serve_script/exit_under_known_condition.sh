if [ "${1:-}" = --help ]; then echo usage; exit 0; fi
server --first
[ -z "$NEVER" ] && exit 3
server --second
