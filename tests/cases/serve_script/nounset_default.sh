set -u
export A=${A:-1} B="${B-}" C=${C:+x}
exec server ${ARGS:-}
