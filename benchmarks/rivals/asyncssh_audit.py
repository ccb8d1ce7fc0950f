"""The bare road: asyncssh, one connection and one command a host, the very same probe program on stdin.

usage: asyncssh_audit.py SITE   (the benchmark's site.json: hosts, port, user, key, known hosts, program)
Prints one line of JSON: how many hosts were asked, and how many gave a whole answer back, up to its end mark.
Nothing is unpacked, interpreted or compared here; that is what knowngood does on top.
"""

import asyncio
import json
import sys
from pathlib import Path

import asyncssh


async def ask(host: str, command: str, program: bytes, options: asyncssh.SSHClientConnectionOptions) -> None:
    async with asyncssh.connect(host, options=options) as connection:
        answer = await connection.run(command, input=program, encoding=None, check=True)
    if not answer.stdout.rstrip().endswith(b" end>>"):
        raise ValueError(f"no whole answer: {answer.stdout[:200]!r}")


async def main() -> None:
    site = json.loads(Path(sys.argv[1]).read_text())
    program = Path(site["program"]).read_bytes()
    options = asyncssh.SSHClientConnectionOptions(
        port=site["port"],
        username=site["user"],
        client_keys=[asyncssh.read_private_key(site["key"])],
        known_hosts=asyncssh.read_known_hosts(site["known_hosts"]),
        config=None,
        agent_path=None,
        connect_timeout=site["patience"],
    )
    asked = [ask(host, site["command"], program, options) for host in site["hosts"]]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    print(json.dumps({"hosts": len(answers), "answered": len(answers) - len(failed)}))
    for error in failed[:3]:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)


asyncio.run(main())
