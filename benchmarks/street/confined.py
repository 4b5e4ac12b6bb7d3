"""A program that may write to one folder alone, and reach no network and no other process.

`python confined.py FOLDER PROGRAM ARGUMENT...`: what varied arguments make a function do stays in
the folder. Landlock holds it, as far as the kernel has it; an older kernel is a refusal.
"""

from __future__ import annotations

import os
import resource
import sys

from landlockpy import AccessFS, Ruleset, Scope, abi_version

_MEMORY = 2 << 30
_PROCESSES = 4_000
_READ = AccessFS.READ_FILE | AccessFS.READ_DIR | AccessFS.EXECUTE
_SCOPES = Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET
# Signals are held since ABI 6 (Linux 6.12).
_ABI = 6


def main(argv: list[str]) -> None:
    """Confine this process and become the program."""
    folder, program = argv[0], argv[1:]
    if abi_version() < _ABI:
        raise SystemExit(f"Landlock of this kernel is too old: {abi_version()} of {_ABI}")
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_NPROC, (_PROCESSES, _PROCESSES))
    with Ruleset(scoped=_SCOPES) as rules:
        rules.allow_path("/", _READ)
        rules.allow_path(folder, rules.handled_fs)
        rules.allow_path("/dev/null", AccessFS.READ_FILE | AccessFS.WRITE_FILE)
        rules.restrict()
    os.execv(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1:])
