import os

FLEET = os.environ["KNOWNGOOD_NO_SUCH_VARIABLE"]
decode = [FLEET]
