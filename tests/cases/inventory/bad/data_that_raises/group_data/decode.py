ssh_user = "ops"
ssh_key = 1 / 0
