# the comment ends the command: what follows is a command of its own
export A=1
python3 -m sglang.launch_server \
  --tp 4 \
  # --dp 2 \
  --enable-x
true
