"""Two states of a shell joined into one that both are instances of."""

from __future__ import annotations

from dataclasses import replace

from knowngood.syntax.bash import text as texts
from knowngood.syntax.bash.fields import join_items
from knowngood.syntax.bash.state import Export, State, Status, Variable
from knowngood.syntax.bash.text import unknown


def join_states(one: State, other: State, reason: str, line: int, *, prefer_one: bool = False) -> State:
    """A state that both are instances of; with `prefer_one` the first is the presumed one."""
    if len(one.scopes) != len(other.scopes):
        one.forget("the function's variables differ by condition", line)
    names = dict.fromkeys([*one.variables, *other.variables])
    variables = {}
    for name in names:
        own = one.variables.get(name)
        if own is not None and own is other.variables.get(name):
            variables[name] = own
            continue
        left, right = one.own(name), other.own(name)
        variables[name] = left if left == right else join_variables(left, right, reason, line, prefer_one)
    functions = {
        name: tuple(dict.fromkeys(one.functions.get(name, (None,)) + other.functions.get(name, (None,))))
        for name in dict.fromkeys([*one.functions, *other.functions])
    }
    options = {
        name: one.option(name) if one.option(name) == other.option(name) else None
        for name in dict.fromkeys([*one.options, *other.options])
    }
    scopes = one.scopes if one.scopes == other.scopes else _join_scopes(one, other, reason, line)
    positional = join_items(one.positional, other.positional, reason, line, prefer_one=prefer_one)
    status = one.status if one.status == other.status else Status(None, None)
    if prefer_one and status is not one.status:
        status = Status(None, one.status.presumed)
    count = one.getopts if one.getopts == other.getopts else (0, 0)
    taint = one.taint or other.taint
    strangers = one.strangers or other.strangers
    return State(
        one.caller, positional, variables, functions, options, scopes, status, taint, strangers, count
    )


def _join_scopes(one: State, other: State, reason: str, line: int) -> list[dict[str, Variable]]:
    """What returning restores; a name that is local in one branch only can't be known afterwards."""
    joined = []
    for left, right in zip(one.scopes, other.scopes, strict=False):
        scope = {}
        for name in dict.fromkeys([*left, *right]):
            if name in left and name in right and left[name] == right[name]:
                scope[name] = left[name]
            else:
                scope[name] = Variable(unknown(reason, line), Export.MIXED, line, maybe_unset=True)
        joined.append(scope)
    return joined


def _mixed_export(preferred: Variable, prefer: bool) -> Export:
    if not prefer or preferred.export is Export.MIXED:
        return Export.MIXED
    return Export.PRESUMED if preferred.export in (Export.YES, Export.PRESUMED) else Export.DOUBTED


def join_variables(one: Variable, other: Variable, reason: str, line: int, prefer_one: bool) -> Variable:
    line = max(one.line, other.line) or line
    export = one.export if one.export is other.export else _mixed_export(one, prefer_one)
    attributes = one.attributes | other.attributes
    if one.items is not None and other.items is not None:
        items = join_items(one.items, other.items, reason, line, prefer_one=prefer_one)
        return Variable(None, export, line, items=items, attributes=attributes)
    if one.items is not None or other.items is not None or one.keyed is not None or other.keyed is not None:
        return Variable(unknown(reason, line), export, line, True, attributes=attributes)
    if one.text is None and other.text is None:
        return Variable(None, export, line, attributes=attributes)
    if one.text is None or other.text is None:
        expected = texts.presumed(one.text) if prefer_one and one.text is not None else None
        text = unknown(reason, line, presumed=expected)
        gone = prefer_one and one.text is None
        return Variable(text, export, line, True, gone, attributes=attributes)
    joined = texts.join(one.text, other.text, reason, line, prefer_one=prefer_one)
    return replace(
        one,
        text=joined,
        export=export,
        line=line,
        maybe_unset=one.maybe_unset or other.maybe_unset,
        presumed_unset=one.presumed_unset and (prefer_one or other.presumed_unset),
        attributes=attributes,
    )
