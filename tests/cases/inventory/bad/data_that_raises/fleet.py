decode = ["decode-01"]
