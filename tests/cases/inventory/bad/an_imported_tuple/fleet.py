from three_names import NAMES

decode = list(NAMES)
