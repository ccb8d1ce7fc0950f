#: unknown word
set -f
server *.nothing a?b
set +f
server "*.py" '?' \*
server --x *.gguf
