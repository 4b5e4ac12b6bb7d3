"""What a patch may not newly hold: characters that a reader of it cannot see or tell apart."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Candidate, Edit
from heal_bot.source import functions, patch_policy
from heal_bot.source.confusables import explain_gained
from tests.core.test_text import UNSEEN

OLD = "def f(größe):\n    return größe\n"


@pytest.mark.parametrize("unseen", [*UNSEEN[1:-1], "\xa0", "\u202f", "\r", "\x1b[0m"], ids=ascii)
@pytest.mark.parametrize("place", ["return größe  # a{}b", "return 'a{}b'", "return größe{} + 1"])
def test_what_nobody_sees_is_refused_wherever_it_is_new(unseen: str, place: str) -> None:
    new = OLD.replace("return größe", place.format(unseen))
    told = f"<U+{ord(unseen[0]):04X}>"
    assert told in explain_gained(OLD, new, OLD)
    assert unseen not in explain_gained(OLD, new, OLD)
    assert explain_gained(new, new.replace("def f", "def f"), new) == ""
    assert explain_gained(new, new.replace("größe", f"größe{unseen}"), new) != ""


@pytest.mark.parametrize(
    "line",
    [
        "return 'déjà vu, 東京\u3000駅, привет'",
        "return größe  # naïve Größe – “quoted” … →",
        "return 'a\\u202eb'",
        "return größe + 1",
        "return größe",
        "return größe\f",
    ],
)
def test_text_that_can_be_read_is_let_through(line: str) -> None:
    assert explain_gained(OLD, OLD.replace("return größe", line).replace("\f", ""), OLD) == ""


@pytest.mark.parametrize(
    ("name", "letter"),
    [("gr\u043eße", "<U+043E>"), ("\uff45val", "<U+FF45>"), ("x.\u0430ppend", "<U+0430>"),
     ("f(\u0455ep=1)", "<U+0455>"), ("f'{\u0430}'", "<U+0430>")],
)  # fmt: skip
def test_a_letter_that_no_name_of_the_file_has_is_refused(name: str, letter: str) -> None:
    assert letter in explain_gained(OLD, OLD.replace("return größe", f"return {name}"), OLD)


KNOWN = f"{OLD}цена = ｅ = ﬁ = é = e\u0301 = 1\n"


@pytest.mark.parametrize(
    ("name", "told"),
    [("цен\u0430s", "cyrillic and latin"), ("p\u0430y", "cyrillic and latin"),
     ("\uff45val", "another one"), ("\ufb01le", "another one"), ("caf\u0065\u0301", "another one")],
)  # fmt: skip
def test_a_name_of_known_letters_is_refused_where_it_reads_as_another(name: str, told: str) -> None:
    new = OLD.replace("return größe", f"return {name}")
    assert told in explain_gained(OLD, new, KNOWN)
    assert explain_gained(new, new.replace("return", "return 1 +"), f"{KNOWN}{name} = 1\n") == ""


@pytest.mark.parametrize(
    ("name", "twin"), [("\u0441\u043e\u0440", "cop"), ("cop", "\u0441\u043e\u0440")]
)
def test_a_name_of_one_script_that_looks_like_another_of_the_file_is_refused(
    name: str, twin: str
) -> None:
    file = f"{twin} = 1\n\u0440\u043e\u0441\u0441 = 2\n{OLD}"
    new = OLD.replace("return größe", f"return {name}")
    assert "looks like" in explain_gained(OLD, new, file)
    assert explain_gained(OLD, OLD.replace("return größe", f"return {twin}"), file) == ""


def test_letters_of_names_elsewhere_in_the_file_are_known() -> None:
    file = f"höhe = 1\nμ = 2\n{OLD}"
    assert explain_gained(OLD, OLD.replace("return größe", "return größe * höhe + μ"), file) == ""


def test_ends_of_lines_as_windows_writes_them_are_seen() -> None:
    old = OLD.replace("\n", "\r\n")
    assert explain_gained(old, old.replace("return", "größe += 1\r\n    return"), old) == ""


def test_the_rails_refuse_it_in_code_and_imports() -> None:
    class Tree:
        def paths(self):
            return ("m.py",)

        def read(self, path):
            return OLD.encode()

    target = functions.find_target(functions.index_targets("m.py", OLD), "f", "function")
    bidi = Edit(target, OLD.replace("größe\n", "größe  # \u2066\n"))
    script = Edit(target, OLD.replace("return", "return 1 +"), ("import m\u0430th",))
    assert "<U+2066>" in patch_policy.check_candidate(Candidate((bidi,), "x", "x"), Tree())
    assert "<U+0430>" in patch_policy.check_candidate(Candidate((script,), "x", "x"), Tree())
