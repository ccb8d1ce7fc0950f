set -- --tp 4 --name "a b"
set -- "$@" --more
exec server "$@"
