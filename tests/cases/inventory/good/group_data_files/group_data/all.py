ssh_user = "ops"
