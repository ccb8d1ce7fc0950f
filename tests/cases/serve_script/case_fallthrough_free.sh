#: args decode
ROLE=$1
case $ROLE in
  prefill) FLAGS=(--disaggregation-mode prefill --max-running 64);;
  decode)
    FLAGS=(--disaggregation-mode decode --max-running 512)
    export DECODE=1
    ;;
  *) echo bad; exit 1;;
esac
exec server "${FLAGS[@]}"
