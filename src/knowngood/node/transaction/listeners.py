"""Who listens at an address: an orphan of the old server can hold the port and answer in the new one's place.

/proc/net/tcp and tcp6 have each socket's address and inode in hex (proc(5)); a process has the socket where
/proc/PID/fd links to `socket:[INODE]`.
"""

import os
import socket
import struct

from knowngood.node.ground import Problem, read_kernel, word

_LISTEN = b"0A"
_LIMIT = 64 << 20
_ANY = (b"\0" * 4, b"\0" * 16)
_MAPPED = b"\0" * 10 + b"\xff\xff"  # an IPv4 address in IPv6, RFC 4291 2.5.5.2


def listening_inodes(address: str, port: int) -> "set[int]":
    """The sockets that take connections to an IP address and port; those bound to any address come last."""
    wanted = _packed(address)
    exact, wildcard = set(), set()
    for path in (b"/proc/net/tcp", b"/proc/net/tcp6"):
        for bound, bound_port, inode in _listening(path):
            if bound_port == port and bound == wanted:
                exact.add(inode)
            elif bound_port == port and bound in _ANY:
                wildcard.add(inode)
    return exact or wildcard


def owner_among(pids: "list[int]", inodes: "set[int]") -> "int | None":
    """The first of these processes that has one of the sockets."""
    links = {b"socket:[%d]" % inode for inode in inodes}
    for pid in pids:
        folder = b"/proc/%d/fd/" % pid
        try:
            if any(_link(folder + name) in links for name in os.listdir(folder)):
                return pid
        except OSError:
            continue
    return None


def everyone() -> "list[int]":
    """All processes that can be seen."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def name_of(pid: int) -> str:
    """What the kernel calls a process."""
    try:
        return word(read_kernel(b"/proc/%d/comm" % pid, 4096)).strip()
    except (OSError, Problem):
        return "?"


def _listening(path: bytes) -> "list[tuple[bytes, int, int]]":
    try:
        lines = read_kernel(path, _LIMIT).split(b"\n")[1:]
    except OSError:
        return []
    told = []
    for line in lines:
        fields = line.split()
        if len(fields) > 9 and fields[3] == _LISTEN:
            address, _, port = fields[1].partition(b":")
            told.append((_address(address), int(port, 16), int(fields[9])))
    return told


def _address(text: bytes) -> bytes:
    """Groups of 32 bits, each in the machine's own order; an IPv4 one in IPv6's clothes as IPv4."""
    groups = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    return _plain(b"".join(struct.pack("=I", group) for group in groups))


def _packed(address: str) -> bytes:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return _plain(socket.inet_pton(family, address))


def _plain(packed: bytes) -> bytes:
    return packed[12:] if packed[:12] == _MAPPED else packed


def _link(path: bytes) -> bytes:
    try:
        return os.readlink(path)
    except OSError:
        return b""
