decode = ["decode-01"]
ports = [8000, 8001]
