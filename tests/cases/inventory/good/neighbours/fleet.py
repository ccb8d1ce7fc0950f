from names import NAMES as decode  # noqa: F401
