decode = ["decode-01"]
canary = (["decode-01", ""], {"ssh_password": "planted-secret"})
