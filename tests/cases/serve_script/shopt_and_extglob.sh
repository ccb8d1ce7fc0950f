shopt -s nullglob extglob
case v12 in v+([0-9])) export V=num;; esac
shopt -u extglob
server
