"""SHA-256 at the least cost: `hashlib` loads OpenSSL, which takes half as long as starting Python.

OpenSSL is several times faster once it is there, and so worth it for large data alone.
"""

LARGE = 1 << 20  # bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash


def new(size: int) -> "_Hash":
    """A hash object for about `size` bytes of data."""
    if size < LARGE:
        for module in ("_sha256", "_sha2"):  # the second since Python 3.12
            try:
                return __import__(module).sha256()  # type: ignore[no-any-return]
            except ImportError:
                continue
    import hashlib

    return hashlib.sha256()


def digest(data: bytes) -> bytes:
    """The hash of some bytes."""
    made = new(len(data))
    made.update(data)
    return made.digest()
