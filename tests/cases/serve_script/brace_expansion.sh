export A={a,b}
X={1,2}
export X
server --{tp,dp}=2 {1..3} {01..03} x{a,b}y "{no,pe}" {single} a{,1}
