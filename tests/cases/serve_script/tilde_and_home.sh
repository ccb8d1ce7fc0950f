#: caller HOME=/home/u
export A=~/models B=x:~/y C="~/no" D=~
server --path ~/m --path=~/m --also "$HOME/x"
