true && export A=1
false && export B=2
false || export C=3
true || export D=4
[ -n "" ] || [ a = a ] && export E=5
! false && export F=6
server
