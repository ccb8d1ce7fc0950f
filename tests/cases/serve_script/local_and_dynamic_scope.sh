X=global
export X
show() { server "$X" --from show; }
inner() { local X=inner; show; }
outer() { local -x Y=1; local Z=2; inner; }
outer
show
server "${Y:-none}" "${Z:-none}"
