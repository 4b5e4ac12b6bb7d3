"""The standard library as it was before the first test: what suites freeze, mock or fake is not it.

Namespaces and no modules: what patches a function wherever it is found (freezegun, pyfakefs) looks
through the attributes of modules, and so would find what another module imported.
"""

from __future__ import annotations

import io as _io
import json as _json
import os as _os
import random as _random
import select as _select
import signal as _signal
import threading as _threading
import time as _time
import types as _types


def _held(module, **others):
    return _types.SimpleNamespace(**{**vars(module), **others})


io, json, random, select = _held(_io), _held(_json), _held(_random), _held(_select)
signal, threading, time = _held(_signal), _held(_threading), _held(_time)
os = _held(_os, path=_held(_os.path))
