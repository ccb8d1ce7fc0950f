PORT=30000
while getopts ":p:" opt; do case $opt in p) PORT=$OPTARG;; esac; done
export PORT
exec server
