NAMES = ("decode-01", "decode-02", "decode-03")
