decode = ["decode-01"
canary = []
