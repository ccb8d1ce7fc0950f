"""Scripts out of a grammar: every construct of a serve script, put together at random.

A template's `<part>` is filled in by the rule of that name. What a script asks of the world (files, output of
commands) has one answer in the sandbox, which a reader can't know. All scripts end.
"""

from __future__ import annotations

import re
from random import Random

NAMES = ["A", "B", "C", "KNOB", "TP"]


def _lines(text: str) -> list[str]:
    return [line for line in text.strip("\n").split("\n") if line]


WORDS = _lines(
    r"""
1
4
512
abc
a.b/c
x-y
--tp
--foo=1
"two words"
'$lit'
"q\"q"
a\ b
''
""
'{"a": 1}'
é
$'t\tn'
0.9
-1
a,b
a:b
~
a=b
#x
a#b
010
{a,b}
'*'
^
%
a'b'c
"""
)
PATTERNS = _lines(
    """
*
a*
?
[0-9]
*b*
*/
*.
1|4
abc
x-?
[!a]*
"""
)
PLAIN = ["1", "abc", "x y", '"q w"', "512", "'s s'", "", "a.b"]

EXPANSIONS = _lines(
    """
$<name>
${<name>}
$<name>
${<name>}
"$<name>"
${<name>:-<plain>}
${<name>-<plain>}
${<name>:+<plain>}
${<name>+set}
${<name>:=<plain>}
${#<name>}
${<name>%<pattern>}
${<name>##<pattern>}
${<name>#<pattern>}
${<name>%%<pattern>}
${<name>/a/z}
${<name>//[0-9]/_}
${<name>/#a/}
${<name>/%1/<plain>}
${<name>^^}
${<name>,,}
${<name>^}
${<name>:1:2}
${<name>: -2}
${!<name>:-none}
${<name>:-${<name>:-deep}}
${<name>:-<expansion>}
$1
${2:-two}
$#
$*
$@
$?
${*:1:1}
${@:2}
$((<arithmetic>))
$(echo out)
$(echo $<name> "<plain-text>")
$(printf '%s-%s' <plain> <plain>)
$(cat /etc/nothing)
$(basename /a/b.c .c)
$(dirname "/x/$<name>")
$(seq 1 3)
`echo back`
${L[0]}
${L[@]}
${#L[@]}
${L[*]}
${L[@]:1}
${L[-1]:-none}
${L[@]/a/b}
${M[k]}
${M[$<name>]:-none}
"""
)
ASSIGNMENTS = _lines(
    """
<name>=<value>
<name>=<value>
<name>=<value>
<name>=<value>
<name>+=<value>
I=<digit> J=$((I + 1))
<name>=<value> <name>=<value>
: ${<name>:=<plain>}
printf -v <name> '%s/%d' <plain> 7
((I += <digit>))
read -r <name> <<< <literal>
let I=J+1
M[k]=<value>
declare -A M=([k]=<value> [z]=1)
"""
)
EXPORTS = _lines(
    """
export <name>=<value>
export <name>=<value>
export <name>=<value>
export <name>
declare -x <name>=<value>
export -n <name>
export <name>=<value> <name>
export "<name>=v w"
export "<name>=$<name>"
declare <name>=<value>
typeset +x <name>
"""
)
ARRAYS = _lines(
    """
L=(<words>)
L=(<words>)
L+=(<words>)
L[0]=<value>
L+=("<expansion>")
L=("${L[@]}" <word>)
"""
)
OTHERS = _lines(
    r"""
set -- <word> <word>
shift
set --
set -- "$@" <word>
shift 2 || true
unset <name>
set +e
set -a
set +a
set -e
IFS=,
IFS=$' \t\n'
unset IFS
true
false
echo hi $A
cd /
eval "<name>=evaled"
eval export <name>=7
eval "<name>=\$<name>x"
set -u
set +u
: # nothing
sleep 1
wait
set -f
set +f
umask 022
trap 'echo x' EXIT
exec 2>/dev/null
source /nonexistent/<name>.sh
bash -c 'export <name>=c; server inner "$<name>" $1' zero <word>
"""
)
CONDITIONS = _lines(
    r"""
true
false
[ -e / ]
[ -e /nope ]
[ -n "$<name>" ]
[ -z "${<name>:-}" ]
[[ "$<name>" == a* ]]
[[ $<name> = 1 ]]
[ "$<name>" = abc ]
(( I > 3 ))
[ $# -gt 0 ]
[[ -v <name> ]]
! true
grep -q x /nope
[[ -n ${<name>:-} && -e / ]]
[[ "$<name>" =~ ^[0-9]+$ ]]
[ $<name> ]
test "$<name>" != 1
[[ $I -ge $J ]]
[ "$I" -lt 5 ]
[[ -d / || -z $A ]]
test -d /nope
[ -n "$A" -a -z "$B" ]
[[ ! ( $A == 1 || $B == 2 ) ]]
"""
)
PREFIXES = [
    "", "", "", "", "<name>=<value> ", "env ", "env <name>=e ", "env -u <name> ", "nohup ", "numactl -N 0 ",
    "exec ", "<name>=<value> <name>=<value> ", "nice -n 1 ", "time ", "! ", "command ",
    'env -i <name>=i PATH="$PATH" ',
]  # fmt: skip
PROGRAMS = ["server", "vllm serve", "python3 -m sglang.launch_server", '"server"', "router"]
SUFFIXES = ["", "", "", " > log", " 2>&1 | tee log", " &", " || true", " # end"]
HEREDOCS = [
    "cat <<<quote> > file.txt\nexport <name>=no $<name> $(echo x)\nserver not\nEOF",
    "<name>=$(cat <<<quote>\nline $<name>\n  two \\\nthree\nEOF\n)",
    "read -r -d '' <name> <<<quote> || true\n  a $<name>\nb\nEOF",
]
SUBJECTS = ['"$<name>"', "$<name>", "$1", '"$(cat /nope)"', "$(cat /proc/sys/kernel/ostype)"]
LISTS = ["1 2 3", '"$@"', "a b", '"${L[@]}"', "$A", "{1..3}", "$(cat /proc/sys/kernel/ostype) z"]
HEADS = ["#!/bin/bash", "#!/usr/bin/env bash", "", "# a comment"]
OPTIONS = ["set -e", "set -u", "set -euo pipefail", "set -a", "set -f", "set -o pipefail"]


class Grammar:
    """One script by one source of chance."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.functions: list[str] = []
        self.in_function = False
        self.in_loop = False
        self.counter = 0
        self.depth = 0

    def script(self) -> str:
        lines = [self.rng.choice(HEADS)]
        if self.rng.random() < 0.25:
            lines.append(self.rng.choice(OPTIONS))
        lines += [self.statement(3) for _ in range(self.rng.randint(2, 9))]
        lines += [self.launch() for _ in range(self.rng.randint(1, 2))]
        return "\n".join(lines) + self.rng.choice(["\n", "", "\n\n"])

    def fill(self, template: str) -> str:
        """The template with its parts put in."""
        return re.sub(r"<([a-z]+(?:-[a-z]+)?)>", lambda found: self.part(found.group(1)), template)

    def one_of(self, templates: list[str]) -> str:
        return self.fill(self.rng.choice(templates))

    def part(self, rule: str) -> str:
        rng = self.rng
        match rule:
            case "name":
                return rng.choice(NAMES)
            case "plain":
                return rng.choice(PLAIN)
            case "plain-text":
                return rng.choice(["a", "b c", ""])
            case "literal":
                return rng.choice(WORDS)
            case "pattern":
                return rng.choice(PATTERNS)
            case "digit":
                return str(rng.randint(0, 9))
            case "quote":
                return rng.choice(["EOF", "'EOF'"])
            case "words":
                return " ".join(self.word() for _ in range(rng.randint(0, 4)))
            case "word":
                return self.word()
            case "value":
                return self.value()
            case "expansion":
                return self.expansion()
            case "arithmetic":
                return self.arithmetic()
        raise ValueError(rule)

    # --- words --------------------------------------------------------------------------------------

    def value(self) -> str:
        """What stands after the `=` of an assignment."""
        chance = self.rng.random()
        if chance < 0.45:
            return self.rng.choice(WORDS)
        if chance < 0.65:
            return self.expansion()
        if chance < 0.85:
            before, after = self.rng.choice(["", "x ", "p/", " "]), self.rng.choice(["", " y", "/s"])
            return f'"{before}{self.expansion()}{after}"'
        return self.rng.choice(WORDS) + self.expansion()

    def expansion(self) -> str:
        self.depth += 1
        text = self.one_of(EXPANSIONS) if self.depth < 4 else "$A"
        self.depth -= 1
        return text

    def arithmetic(self) -> str:
        left = self.rng.choice(["1", "7", "I", "J", "I + 2", "(3)", "-J", "0x1f", "I++", "J"])
        right = self.rng.choice(["1", "2", "J * 2", "I", "3"])
        return f"{left} {self.rng.choice(['+', '-', '*', '<', '>', '==', '&&', '||', '%', '<<'])} {right}"

    def word(self) -> str:
        """A word of a command line."""
        chance = self.rng.random()
        if chance < 0.4:
            return self.rng.choice(WORDS)
        if chance < 0.6:
            return self.expansion()
        if chance < 0.9:
            return f'"{self.expansion()}"'
        return self.rng.choice(["--x=", "a", '"b c"']) + self.expansion()

    # --- statements ---------------------------------------------------------------------------------

    def statement(self, depth: int) -> str:
        if depth > 0 and self.rng.random() < 0.4:
            compounds = [
                self.if_, self.if_, self.case, self.for_, self.while_, self.group, self.subshell, self.and_or,
                self.function, self.heredoc, self.pipeline,
            ]  # fmt: skip
            return self.rng.choice(compounds)(depth - 1)
        simple = [self.simple_statement] * 6 + [self.launch, self.launch, self.other, self.other, self.call]
        return self.rng.choice(simple)()

    def simple_statement(self) -> str:
        return self.one_of(self.rng.choice([ASSIGNMENTS, ASSIGNMENTS, EXPORTS, EXPORTS, ARRAYS]))

    def other(self) -> str:
        templates = list(OTHERS)
        if self.in_function:
            templates += ["local A=l", "local B", "return", "return 1", "local -x <name>=lx"] * 2
        if self.in_loop:
            templates += ["break", "continue"] * 3
        return self.one_of(templates)

    def call(self) -> str:
        if not self.functions or self.in_function:
            return self.simple_statement()
        function = self.rng.choice(self.functions)
        return self.fill(self.rng.choice(["", "<name>=pre "]) + function + " <word> <word>")

    def launch(self) -> str:
        self.counter += 1
        joint = self.rng.choice([" ", " ", " \\\n  "])
        program = self.rng.choice(PROGRAMS)
        prefix, suffix = self.rng.choice(PREFIXES), self.rng.choice(SUFFIXES)
        return self.fill(f"{prefix}{program} id{self.counter}{joint}<words>{suffix}")

    # --- compounds ----------------------------------------------------------------------------------

    def body(self, depth: int) -> str:
        return "\n".join(self.statement(depth) for _ in range(self.rng.randint(1, 3)))

    def condition(self) -> str:
        return self.one_of(CONDITIONS)

    def if_(self, depth: int) -> str:
        text = f"if {self.condition()}; then\n{self.body(depth)}\n"
        if self.rng.random() < 0.3:
            text += f"elif {self.condition()}; then\n{self.body(depth)}\n"
        if self.rng.random() < 0.5:
            text += f"else\n{self.body(depth)}\n"
        return text + "fi"

    def case(self, depth: int) -> str:
        arms = [f"  {self.part('pattern')}) {self.body(depth)} ;;\n" for _ in range(self.rng.randint(1, 3))]
        return f"case {self.one_of(SUBJECTS)} in\n{''.join(arms)}esac"

    def loop_body(self, depth: int) -> str:
        was, self.in_loop = self.in_loop, True
        text = self.body(depth)
        self.in_loop = was
        return text

    def for_(self, depth: int) -> str:
        if self.rng.random() < 0.2:
            self.counter += 1
            index = f"K{self.counter}"
            head = f"for (({index} = 0; {index} < 3; {index}++)); do"
            return f"{head}\n{self.loop_body(depth)}\nJ=${index}\ndone"
        return f"for {self.part('name')} in {self.rng.choice(LISTS)}; do\n{self.loop_body(depth)}\ndone"

    def while_(self, depth: int) -> str:
        """A loop that ends by a counter of its own."""
        self.counter += 1
        count = f"N{self.counter}"
        tests = [f"[ ${count} -lt 3 ]", f"(( {count} < 2 ))", f"[[ ${count} -lt 2 && -e / ]]"]
        test = self.rng.choice([*tests, f"[ ${count} -lt 2 ] && {self.condition()}"])
        return f"{count}=0\nwhile {test}; do\n{count}=$(({count} + 1))\n{self.loop_body(depth)}\ndone"

    def group(self, depth: int) -> str:
        return f"{{ {self.body(depth)}\n}}" + self.rng.choice(["", " > out.log", " 2>/dev/null"])

    def subshell(self, depth: int) -> str:
        return f"(\n{self.body(depth)}\n)"

    def and_or(self, depth: int) -> str:
        after = self.launch() if self.rng.random() < 0.3 else self.simple_statement()
        return f"{self.condition()} {self.rng.choice(['&&', '||'])} {after}"

    def function(self, depth: int) -> str:
        if self.in_function:
            return self.group(depth)
        loop, self.in_loop, self.in_function = self.in_loop, False, True
        self.counter += 1
        name = f"f{self.counter}"
        text = f"{name}() {{\n{self.body(depth)}\n}}"
        self.in_loop, self.in_function = loop, False
        self.functions.append(name)
        return text

    def heredoc(self, depth: int) -> str:
        return self.one_of(HEREDOCS)

    def pipeline(self, depth: int) -> str:
        if self.rng.random() < 0.7:
            return f"echo x | {{ {self.body(depth)}\n}}"
        return f"{self.simple_statement()} | cat"
