"""What the node need not keep any longer: old generations, and contents that no generation names."""

import os
import time

from knowngood.node.transaction.durable import remove
from knowngood.node.transaction.generations import Current, Generations
from knowngood.node.transaction.journal import OPEN, Journal, drop_old, numbers
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.store import Store

KEEP = 5  # generations, where nobody says how many
_FRESH = 3600.0  # seconds in which a staged content may wait for its activation
_UPLOAD = 86400.0  # seconds in which a cut upload may be resumed


def collect(home: Home, keep: int) -> None:
    """Keep the last `keep` generations, all that are current, confirmed, or needed to go back to."""
    generations = Generations(home)
    needed = _needed(home, generations)
    for number in generations.numbers()[: -max(1, keep)]:
        if number not in needed:
            generations.drop(number)
    for number in set(generations.numbers()) - needed:
        if generations.read(number)["state"] == "staged":
            generations.drop(number)  # it never came to be
    _drop_blobs(home, generations)
    _drop_uploads(home)
    drop_old(home)


def _needed(home: Home, generations: Generations) -> "set[int]":
    needed = set()  # type: set[int]
    for role in Current(home).roles().values():
        needed.update(number for number in (role["generation"], role["confirmed"]) if number is not None)
    for number in numbers(home):
        record = Journal(home, number).read()
        if record["state"] in OPEN:
            needed.update((number, record["former"]))
    for number in needed & set(generations.numbers()):
        needed = needed.union(_ways_back(generations, number))
    return needed


def _ways_back(generations: Generations, number: int) -> "set[int]":
    """What a generation goes back to: at once, and by `restore` once it is confirmed."""
    fields = generations.read(number)
    ways = {fields["former"], fields.get("restores")}
    if fields.get("restores") in generations.numbers():
        ways.add(generations.read(fields["restores"])["former"])
    return ways - {None}


def _drop_blobs(home: Home, generations: Generations) -> None:
    store = Store(home)
    named = set()  # type: set[str | None]
    for number in generations.numbers():
        named.update(entry.get("sha256") for entry in generations.read(number)["entries"])
    for number in numbers(home):
        named.update(each["sha256"] for each in Journal(home, number).read()["overwrote"])
    for sha256 in store.names():
        if sha256 not in named and _age(store.path(sha256)) > _FRESH:
            store.drop(sha256)


def _drop_uploads(home: Home) -> None:
    for name in os.listdir(home.incoming):
        path = home.incoming + b"/" + name
        if _age(path) > _UPLOAD:
            remove(path)


def _age(path: bytes) -> float:
    """Seconds since it was last changed; 0 where that lies ahead, as after a jump of the clock."""
    try:
        return max(0.0, time.time() - os.stat(path).st_ctime)
    except FileNotFoundError:
        return 0.0
