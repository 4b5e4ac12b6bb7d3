"""The answering process of the oracle: calls functions of the candidate and tells what they gave.

Calls come over descriptor 4 and answers go over 3, one line of JSON each. Nothing said here is
believed beyond its being plain data.
"""

from __future__ import annotations

import sys

from _heal_pristine_stdlib import json, os


def main():
    """Answer until the calls end."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    import _heal_guise
    import _heal_record_writer
    import _heal_tagged_json

    answers, calls = _heal_record_writer.move_away(3), _heal_record_writer.move_away(4)
    _heal_guise.wear(here)
    repo = os.getcwd()
    write, encode = os.write, json.JSONEncoder(ensure_ascii=True).encode
    buffer = bytearray()
    while True:
        call = _heal_record_writer.read_line(calls, buffer)
        if call is None:
            return
        data = encode(_answer(call, _heal_tagged_json, repo)).encode("ascii") + b"\n"
        while data:
            data = data[write(answers, data) :]


def _answer(call, plain, repo):
    try:
        function = _find(call, repo)
        args, kwargs = plain.decode(call["args"]), plain.decode(call["kwargs"])
    except BaseException as error:
        return {"refused": "%s: %.200s" % (type(error).__name__, error)}
    try:
        given = {"value": function(*args, **kwargs)}
    except BaseException as error:
        given = {"error": error}
    try:
        answer = {"after": plain.encode(args)}
        if "error" in given:
            answer["error"] = plain.encode_error(given["error"])
        else:
            answer["value"] = plain.encode(given["value"])
        return answer
    except BaseException as error:
        return {"refused": "%.200s" % error}


def _find(call, repo):
    """The function, imported under the name that the tests know its module by."""
    import importlib

    for path in reversed(call["path"]):
        full = os.path.normpath(os.path.join(repo, path))
        if full not in sys.path:
            sys.path.insert(0, full)
    module = importlib.import_module(call["module"])
    place = os.path.realpath(module.__file__)
    if place != os.path.realpath(os.path.join(repo, call["file"])):
        raise ImportError("%s is another file here" % call["module"])
    return getattr(module, call["name"])


if __name__ == "__main__":
    main()
