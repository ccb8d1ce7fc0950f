JSON=$(cat <<'EOF'
{"a": 1,
 "b": "two"}
EOF
)
read -r -d '' TEXT <<EOF || true
line one
line two
EOF
export JSON TEXT
server --json "$JSON"
