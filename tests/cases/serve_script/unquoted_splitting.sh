V="one two  three"
server $V "$V" pre$V post${V}x --x=$V
