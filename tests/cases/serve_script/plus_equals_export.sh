export FLAGS="--a"
FLAGS+=" --b"
FLAGS="${FLAGS} --c"
server $FLAGS
