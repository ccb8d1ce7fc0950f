import os

_sudo = True
head = os.path.join("10.0.0.1")
