ssh = ["@ssh/decode-01"]
here = [("@local", {"knowngood_python": "/usr/bin/python3.11"})]
boxes = ["@docker/debian:12"]
