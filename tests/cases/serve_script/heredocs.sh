cat <<EOF > config.json
{"port": 30000, "home": "$HOME"}
EOF
cat > run.sh <<'EOS'
export NOT_OURS=1
server --not-ours
EOS
cat <<-END
	indented $(echo hi)
	END
export AFTER=1
server --config config.json
