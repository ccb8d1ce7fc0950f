export A=1; export B=2; C=3;export C;server --x;server --y
{ server --z; }; (server --w;)
