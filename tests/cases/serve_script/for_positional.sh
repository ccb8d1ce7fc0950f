#: args x y
for a; do LIST+="$a,"; done
export LIST
server
