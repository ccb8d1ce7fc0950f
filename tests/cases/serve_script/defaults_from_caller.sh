#: caller PORT=1234 MEM=
export PORT=${PORT:-30000} MEM=${MEM:-0.8} TAG=${TAG:-none}
exec server --port $PORT --mem $MEM ${EXTRA_ARGS:-}
