pick() {
  if [ "$1" = big ]; then SIZE=70; return 0; fi
  SIZE=7
  return 1
}
pick big && export BIG=yes
pick small || export SMALL=yes
export SIZE
server
