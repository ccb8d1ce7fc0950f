A=5 B=abc
[ $A -gt 3 ] && export T1=1
[ "$B" != abc ] || export T2=1
[[ $B =~ ^a.c$ ]] && export T3=1
[[ $A -eq 5 && ( $B == x || $B == a* ) ]] && export T4=1
[ -n "$B" -a "$A" -lt 9 ] && export T5=1
test -z "$NONE" && export T6=1
[ ! "$A" = 6 ] && export T7=1
[[ -v A ]] && export T8=1
[[ -z ${NONE+x} ]] && export T9=1
[[ "$B" == "a*" ]] || export T10=1
server
