decode = ["decode-01", 2]
