"""How a change comes to a node: one transaction, which ends with the new contents or with the former ones.

    prepare   what is asked is checked against what is there; former contents go to the store
    stage     every new file lies whole beside the one that it will replace, on disk
    armed     the dead man's switch ticks: from here on the node comes back by itself
    live      renames in one go; then bytecode and caches, systemd, restart
    active    read back; it waits to be confirmed, and is undone if that does not come in time
    confirmed, or restored

The journal says which step is under way before it is taken, so whoever meets an open journal can end it from
that alone: the transaction's own unit, started anew; the switch; the boot unit; the next operator. Undoing is
`bring` with the former set, the same code that activates.

docs/node-program.md has the commands with what goes in and out. Everything here is standard library and
runs on Python 3.6.
"""
