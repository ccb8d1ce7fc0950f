function one { server --one; }
function two() { export T=2; server --two; }
three() ( export S=3; server --three )
one; two; three
server "${S:-none}"
