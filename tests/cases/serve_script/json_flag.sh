CFG='{"cudagraph_mode": "FULL", "sizes": [1, 2, 4]}'
vllm serve /m --compilation-config "$CFG" --override '{"k":"v w"}' --speculative-config={\"method\":\"mtp\",\"n\":2}
