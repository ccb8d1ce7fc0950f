export A=a#b B='#c' # comment ; export X=1
#export C=1
server --color '#fff' a#b #gone
