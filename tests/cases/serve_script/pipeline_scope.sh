export A=1
echo x | { read line; export A=2; server --piped; }
server 2>&1 | tee -a server.log
echo | while read l; do A=9; done
server --last
