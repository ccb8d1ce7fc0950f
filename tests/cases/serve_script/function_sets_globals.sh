configure() {
  export TP=$1
  local extra=$2
  EXTRA="--extra $extra"
  shift
  COUNT=$#
}
configure 8 fast
export COUNT
exec server --tp $TP $EXTRA
