exec 3>&1
exec 2>/dev/null
set -o pipefail
server --x 2>&1 | tee log.txt
