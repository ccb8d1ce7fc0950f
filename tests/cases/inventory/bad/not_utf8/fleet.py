decode = ["café"]
