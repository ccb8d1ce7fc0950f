X=old
X=new server "$X"
server "$X"
