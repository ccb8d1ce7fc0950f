decode = {"decode-01", "decode-02"}  # a set is no group to pyinfra
