"""Builds the wheel of a source archive by its backend's own hook (PEP 517), from inside.

Run as `python -I _heal_build.py ARCHIVE OUT BACKEND BACKEND_PATH...`; the wheel lies in OUT.
"""

import importlib
import os
import sys
import tarfile


def main(archive, out, backend, *backend_path):
    with tarfile.open(archive) as tar:
        tar.extractall("unpacked")
    (top,) = os.listdir("unpacked")
    os.chdir(os.path.join("unpacked", top))
    # A backend finds its modules where the archive says, else old setup.py files expect "".
    sys.path[:0] = [os.path.abspath(p) for p in backend_path] or (
        [os.getcwd()] if backend.endswith("__legacy__") else []
    )
    module, _, attribute = backend.partition(":")
    hooks = importlib.import_module(module)
    for name in filter(None, attribute.split(".")):
        hooks = getattr(hooks, name)
    hooks.build_wheel(out)


main(*sys.argv[1:])
