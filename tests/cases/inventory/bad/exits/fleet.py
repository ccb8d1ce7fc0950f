import sys

sys.exit("no inventory today")
