decode = [("decode-01",)]
