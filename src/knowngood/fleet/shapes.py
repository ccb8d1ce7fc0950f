"""What a group of an inventory file must look like, told in the user's words.

pyinfra takes a tuple for `(hosts, data)`. A tuple of names, which looks as natural, becomes hosts called
after its first name's letters; other shapes end in errors from deep inside.
"""

from __future__ import annotations

import ast


def mistake(group: object) -> str | None:
    """What is wrong with a group that is a list, or a tuple; None where nothing is."""
    hosts = group
    if isinstance(group, tuple):
        if len(group) != 2 or isinstance(group[0], str) or not isinstance(group[1], dict):
            return "a tuple is read as (hosts, data), with a list of hosts and a dict; of names, make a list"
        hosts = group[0]
    if not isinstance(hosts, (list, tuple)):
        return f"its hosts are no list: {hosts!r:.60}"
    return next((told for host in hosts if (told := _mistake_of_host(host))), None)


def _mistake_of_host(host: object) -> str | None:
    name = host
    if isinstance(host, tuple):
        if len(host) != 2 or not isinstance(host[1], dict):
            # Not the whole of it: host data may hold a password.
            return f"a host with data is (name, dict): {host[0] if host else host!r:.60}"
        name = host[0]
    if not isinstance(name, str) or not name.strip():
        return f"a host's name is a text that is not empty: {name!r:.60}"
    return None


def line_of(source: str, name: str) -> int:
    """The last line of a module's top level that binds this name, from 1; 0 where none does plainly."""
    found = 0
    for statement in ast.parse(source).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            bound = {alias.asname or alias.name for alias in statement.names}
        else:
            bound = {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
        if name in bound:
            found = statement.lineno
    return found
