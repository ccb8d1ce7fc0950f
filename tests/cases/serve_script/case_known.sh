GPU=h100
case "$GPU" in
  a100|a10) export MEM=0.8 ;;
  h*) export MEM=0.9 ;;
  *) export MEM=0.5 ;;
esac
case $GPU in [hH]100) export CHUNK=8192;; esac
exec server --mem $MEM
