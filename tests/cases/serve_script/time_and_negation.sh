time server --timed
! server --negated
export S=done
server
