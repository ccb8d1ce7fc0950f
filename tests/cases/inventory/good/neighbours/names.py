NAMES = ["decode-01", "decode-02"]
