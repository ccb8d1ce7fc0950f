#: file env.sh export FROM_FILE=1\nLOCAL=2\nset -a\nAUTO=3\nset +a\nhelper() { export HELPED=$1; }\n
source @DIR@/env.sh
helper yes
export LOCAL
exec server --auto $AUTO
