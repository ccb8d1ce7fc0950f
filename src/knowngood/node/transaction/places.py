"""Where the node keeps what is knowngood's. All of it is root's alone: former scripts can hold secrets."""

import os
import stat

from knowngood.node.ground import Problem, raw
from knowngood.node.hashes import FOLDER

_FOLDERS = (
    *(b"bin", b"store", b"store/sha256", b"store/incoming", b"generations", b"journal", b"receipts"),
    *(b"lock", b"secrets", b"secrets/kept", b"refused"),
)
_RESERVE = 512 << 10  # bytes


class Home:
    """The folder of the node's state, and the names in it."""

    def __init__(self, root: bytes = FOLDER) -> None:
        self.root = root
        self.programs = root + b"/bin"
        self.blobs = root + b"/store/sha256"
        self.incoming = root + b"/store/incoming"
        self.generations = root + b"/generations"
        self.journal = root + b"/journal"
        self.receipts = root + b"/receipts"
        self.lock = root + b"/lock"
        self.secrets = root + b"/secrets"
        self.kept_secrets = root + b"/secrets/kept"
        self.refused = root + b"/refused"
        self.current = root + b"/current"
        self.transaction_mutex = root + b"/journal/.transaction"
        self.journal_mutex = root + b"/journal/.write"
        self.reserve = root + b"/journal/.reserve"
        self.lock_mutex = root + b"/lock/.write"

    def make(self) -> None:
        """Make what is missing. Problem where something else, or someone else, has the place."""
        for folder in (self.root, *(self.root + b"/" + name for name in _FOLDERS)):
            try:
                os.mkdir(folder, 0o700)
            except FileExistsError:
                _make_private(folder)

    def make_reserve(self) -> None:
        """Keep some space aside for the journal: a change that fills the disk must still be undone."""
        if os.path.exists(self.reserve):
            return
        handle = os.open(self.reserve, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(handle, 0, _RESERVE)
            os.fsync(handle)
        except OSError:
            self.release_reserve()
            raise
        finally:
            os.close(handle)

    def release_reserve(self) -> None:
        """Give the space back, when it is time to go back."""
        try:
            os.unlink(self.reserve)
        except FileNotFoundError:
            pass

    def receipts_of(self, unit: str) -> bytes:
        """The folder of one unit's receipts."""
        return self.receipts + b"/" + raw(unit)


def _make_private(folder: bytes) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise Problem("%s is not a folder of its own" % folder.decode("utf-8", "replace"))
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.chmod(folder, 0o700)
