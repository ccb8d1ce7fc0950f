"""All that a file has beside its content: mode, owner, group, and extended attributes, ACLs among them.

An ACL is the attribute system.posix_acl_access (acl(5)); the kernel keeps its entries for owner, mask and
others and the mode's bits the same (linux/posix_acl_xattr.h: a version, then tag, permissions, id each).
"""

import base64
import errno
import os
import struct

from knowngood.node.ground import raw, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ACL = "system.posix_acl_access"
# Made of the content, by the kernel: they can't be carried over to another one.
_OF_CONTENT = ("security.ima", "security.evm")
_USER_OBJ, _GROUP_OBJ, _MASK, _OTHER = 0x01, 0x04, 0x10, 0x20
_UNSUPPORTED = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def read(handle: int) -> "dict[str, Any]":
    """{"mode": "0644", "uid", "gid", "xattrs": {name: base64}} of an open file."""
    found = os.fstat(handle)
    return {
        "mode": "%04o" % (found.st_mode & 0o7777),
        "uid": found.st_uid,
        "gid": found.st_gid,
        "xattrs": _xattrs(handle),
    }


def apply(handle: int, wanted: "dict[str, Any]") -> None:
    """Give an open file these attributes. The mode comes last: a change of owner drops its special bits."""
    os.fchown(handle, wanted["uid"], wanted["gid"])
    have = _xattrs(handle)
    for name in have:
        if name not in wanted["xattrs"] and not name.startswith("security."):
            os.removexattr(handle, raw(name))
    for name, value in wanted["xattrs"].items():
        if have.get(name) != value:
            _set(handle, name, base64.b64decode(value))
    os.fchmod(handle, int(wanted["mode"], 8))


def wanted_of(entry: "dict[str, Any]", live: "dict[str, Any] | None", same_content: bool) -> "dict[str, Any]":
    """The whole attributes that an entry asks for: what it does not name stays as it is on the node."""
    found = live or {"mode": "0644", "uid": 0, "gid": 0, "xattrs": {}}
    mode = found["mode"] if entry.get("mode") is None else entry["mode"]
    xattrs = dict(found["xattrs"])
    if not same_content:
        xattrs = {name: value for name, value in xattrs.items() if name not in _OF_CONTENT}
    if ACL in xattrs:
        xattrs[ACL] = base64.b64encode(_with_mode(base64.b64decode(xattrs[ACL]), int(mode, 8))).decode(
            "ascii"
        )
    return {
        "mode": mode,
        "uid": found["uid"] if entry.get("uid") is None else entry["uid"],
        "gid": found["gid"] if entry.get("gid") is None else entry["gid"],
        "xattrs": xattrs,
    }


def same(one: "dict[str, Any]", other: "dict[str, Any]") -> bool:
    """Whether two files' attributes are the same, those aside that the kernel makes of the content."""
    return all(one[name] == other[name] for name in ("mode", "uid", "gid")) and _lasting(one) == _lasting(
        other
    )


def _lasting(attributes: "dict[str, Any]") -> "dict[str, str]":
    return {name: value for name, value in attributes["xattrs"].items() if name not in _OF_CONTENT}


def _xattrs(handle: int) -> "dict[str, str]":
    try:
        names = os.listxattr(handle)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return {}
        raise
    told = {}
    for name in names:
        value = os.getxattr(handle, name)
        told[word(os.fsencode(name))] = base64.b64encode(value).decode("ascii")
    return told


def _set(handle: int, name: str, value: bytes) -> None:
    try:
        os.setxattr(handle, raw(name), value)
    except OSError:
        if name not in _OF_CONTENT:
            raise


def _with_mode(acl: bytes, mode: int) -> bytes:
    """The ACL as chmod(2) would leave it."""
    if len(acl) < 4 or len(acl) % 8 != 4:
        return acl
    entries = [list(struct.unpack_from("<HHI", acl, at)) for at in range(4, len(acl), 8)]
    has_mask = any(tag == _MASK for tag, _, _ in entries)
    bits = {_USER_OBJ: mode >> 6, _MASK if has_mask else _GROUP_OBJ: mode >> 3, _OTHER: mode}
    for entry in entries:
        if entry[0] in bits:
            entry[1] = bits[entry[0]] & 7
    return acl[:4] + b"".join(struct.pack("<HHI", *entry) for entry in entries)
