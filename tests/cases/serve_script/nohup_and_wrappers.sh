#: unknown LD_PRELOAD _STDBUF_O _STDBUF_E _STDBUF_I
export OMP_NUM_THREADS=8
nohup server --a > /dev/null 2>&1 &
nice -n 5 server --b
timeout -k 5 30 server --c
setsid server --d
stdbuf -oL -eL server --e
numactl --cpunodebind=0 --membind=0 server --f
numactl -N 0 -m 0 taskset -c 0-1 env X=1 nohup server --g
wait
