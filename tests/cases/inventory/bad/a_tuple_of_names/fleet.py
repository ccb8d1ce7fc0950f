"""As natural as a list, and read by pyinfra as (hosts, data)."""

decode = ("decode-01", "decode-02")
