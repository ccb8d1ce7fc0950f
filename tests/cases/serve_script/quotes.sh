export A="a b" B='c "d"' C=e\ f D=g"h i"'j k'l E="\$x \`y\` \"z\" \\ \n"
export F=$'tab\there\nnewline\x41\101' G=$"plain"
server --json '{"a": {"b": [1, 2]}}' --text "it's" --esc a\"b --empty "" ''
