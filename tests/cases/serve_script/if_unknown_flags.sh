#: unknown word
ARGS=(--model-path /m --tp 4)
if [ -d /nonexistent/cache ]; then
  ARGS+=(--cache /nonexistent/cache)
fi
ARGS+=(--port 30000)
exec server "${ARGS[@]}"
