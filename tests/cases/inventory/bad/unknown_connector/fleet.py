decode = ["@dokcer/debian:12"]
