"""Report files made to hurt: broken, hostile and lying documents, made by code."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator

CASE = '<testcase classname="tests.test_a" name="test_b" time="0.1">{}</testcase>'
FAILURE = '<failure message="assert 1 == 2">tests/test_a.py:3: AssertionError</failure>'
GOOD = f'<testsuites><testsuite name="pytest">{CASE.format(FAILURE)}</testsuite></testsuites>'
HEAD = '<?xml version="1.0" encoding="utf-8"?>'
_MIB = 1 << 20


def corpus() -> Iterator[tuple[str, bytes]]:
    """(name, content) of each hostile file; names end as the file's name should."""
    for name, text in (*_broken(), *_entities(), *_shapes(), *_names()):
        yield f"{name}.xml", text.encode("utf-8", "surrogatepass")
    yield from _encodings()
    yield from _huge()
    yield from _packed()


def _broken() -> Iterator[tuple[str, str]]:
    yield "empty", ""
    yield "blank", " \n\t\n"
    yield "prose", "no tests were run, sorry"
    yield "html", "<!DOCTYPE html><html><head><title>502</title></head><body>Bad</body></html>"
    yield "html-unclosed", "<html><body><p>one<p>two<br></body></html>"
    yield "json", '{"tests": 1}'
    yield "truncated-text", GOOD[: GOOD.index("AssertionError")]
    yield "truncated-tag", GOOD[: GOOD.index("name=") + 8]
    yield "truncated-first", HEAD + "<testsui"
    yield "junk-prefix", "collected 1 item\n" + HEAD + GOOD
    yield "space-prefix", " \n" + HEAD + GOOD
    yield "junk-suffix", HEAD + GOOD + "\nDone.\n"
    yield "tag-suffix", HEAD + GOOD + "<oops"
    yield "twice", HEAD + GOOD + HEAD + GOOD
    yield "escape", GOOD.replace("assert", "\x1b[31massert")
    yield "nul", GOOD.replace("AssertionError", "Assertion\0Error")
    yield "reference-27", GOOD.replace("AssertionError", "&#27;[31m")
    yield "reference-surrogate", GOOD.replace("AssertionError", "&#xD800;")
    yield "reference-huge", GOOD.replace("AssertionError", "&#99999999999999999999;")
    yield "bare-ampersand", GOOD.replace("AssertionError", "a && b")
    yield "undefined-entity", GOOD.replace("AssertionError", "&nbsp;")
    yield "unescaped-less", GOOD.replace("AssertionError", "1 < 2")
    yield "attribute-twice", GOOD.replace('time="0.1"', 'time="0.1" time="0.2"')
    yield "crossed-tags", "<testsuite><testcase name='a'><failure></testcase></failure></testsuite>"


def _entities() -> Iterator[tuple[str, str]]:
    laughs = '<!ENTITY l0 "lol">' + "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12)
    )
    for name, inside in (("text", "&l11;"), ("attribute", "")):
        body = CASE.format(f'<failure message="{"" if inside else "&l11;"}">{inside}</failure>')
        yield f"laughs-{name}", f"<!DOCTYPE t [{laughs}]><testsuite>{body}</testsuite>"
    block = "x" * 100_000
    many = "&b;" * 10_000
    yield "quadratic", f'<!DOCTYPE t [<!ENTITY b "{block}">]><testsuite>{many}</testsuite>'
    use = CASE.format("<failure>&e;</failure>")
    for name, declared in (
        ("file-entity", '<!ENTITY e SYSTEM "file:///etc/passwd">'),
        ("net-entity", '<!ENTITY e SYSTEM "http://127.0.0.1:9/e">'),
        ("parameter-entity", '<!ENTITY % e SYSTEM "http://127.0.0.1:9/e"> %e;'),
        ("default-attribute", '<!ATTLIST testcase name CDATA "planted">'),
    ):
        yield name, f"<!DOCTYPE testsuite [{declared}]><testsuite>{use}</testsuite>"
    yield "external-dtd", f'<!DOCTYPE testsuites SYSTEM "http://127.0.0.1:9/d.dtd">{GOOD}'
    yield "late-doctype", "<testsuite/>" + f"<!DOCTYPE t [{laughs}]><testsuite>&l11;</testsuite>"
    yield "hidden-doctype", f"junk <!DOCTYPE t [{laughs}]><testsuite>&l11;</testsuite>"
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'
    yield "xinclude", f"<testsuite>{include}{CASE.format(FAILURE)}</testsuite>"


def _shapes() -> Iterator[tuple[str, str]]:
    yield "deep", "<testsuite>" * 10_000 + "</testsuite>" * 10_000
    yield "deep-in-case", "<testsuite>" + CASE.format("<a>" * 10_000 + "</a>" * 10_000)
    yield "deep-open", "<a>" * 100_000
    yield "nested-suites", "<testsuite>" * 30 + CASE.format(FAILURE) + "</testsuite>" * 30
    yield "root-case", CASE.format(FAILURE)
    yield (
        "namespaced",
        f'<x:testsuite xmlns:x="urn:x">{GOOD[12:-13]}</x:testsuite>'.replace(
            "<test", "<x:test"
        ).replace("</test", "</x:test"),
    )
    shown = CASE.format("<system-out><failure>no</failure></system-out>")
    yield "failure-in-output", f"<testsuite>{shown}</testsuite>"
    yield "comment", GOOD.replace("AssertionError", "Assertion<!-- cut -->Error<?pi x?>")
    yield "all-results", GOOD.replace("</testcase>", "<error/><skipped/><failure/></testcase>")
    yield "many-failures", f"<testsuite>{CASE.format(FAILURE * 50_000)}</testsuite>"
    yield (
        "many-attributes",
        GOOD.replace("time=", " ".join(f'a{n}="1"' for n in range(50_000)) + " time="),
    )
    yield (
        "many-properties",
        "<testsuite><properties>"
        + ('<property name="k" value="v"/>' * 50_000)
        + "</properties></testsuite>",
    )
    yield (
        "bad-numbers",
        GOOD.replace('"0.1"', '"NaNs"').replace(
            'name="pytest"', 'tests="two" failures="-1" time="1e999"'
        ),
    )
    yield "line-number", GOOD.replace('time="0.1"', f'line="{"9" * 5000}" time="inf"')
    yield "no-names", "<testsuite><testcase/><testcase><failure/></testcase></testsuite>"
    yield "other-root", "<assemblies><assembly><test name='x'/></assembly></assemblies>"
    yield "suites-only", "<testsuites><testsuite/><testsuite/></testsuites>"
    duplicate = CASE.format(FAILURE) + CASE.format("") + CASE.format(FAILURE)
    yield "duplicates", f"<testsuite>{duplicate * 5000}</testsuite>"


def _names() -> Iterator[tuple[str, str]]:
    for name, text in (
        ("newline", "a&#10;::error::pwned&#10;##[command]x"),
        ("mention", "@everyone [x](javascript:1) ![y](http://127.0.0.1:9/z)"),
        ("markup", "&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- --&gt;|`"),
        ("bidi", "a\u202eb\u2066c\u200bd"),
        ("path", "../../../etc/passwd"),
        ("dots", "." * 5000),
        ("parents", "(" * 5000 + "[" * 5000),
        ("blanks", " " * 60_000 + "x"),
        ("subtest", "test_b [" + "x (" * 5000),
    ):
        yield f"name-{name}", GOOD.replace("test_b", text)
        yield f"class-{name}", GOOD.replace("tests.test_a", text)
    yield "text-blanks", GOOD.replace("AssertionError", " " * 900_000 + "x:1: y")
    yield "text-colons", GOOD.replace("AssertionError", ":1" * 400_000)
    yield "text-quotes", GOOD.replace("AssertionError", "File &quot;" * 100_000)
    yield "text-lines", GOOD.replace("AssertionError", "\na.py:1: in f" * 60_000)
    yield "message-long", GOOD.replace("assert 1", "assert " + "x" * 3_000_000)


def _encodings() -> Iterator[tuple[str, bytes]]:
    odd = GOOD.replace("assert", "assért")
    yield "bom.xml", b"\xef\xbb\xbf" + (HEAD + odd).encode()
    yield "utf-16.xml", odd.encode("utf-16")
    yield "utf-16-mislabelled.xml", (HEAD + odd).encode("utf-16")
    yield "utf-16-bare.xml", (HEAD + odd).encode("utf-16-le")
    yield "utf-16-cut.xml", (HEAD + odd).encode("utf-16")[:-5]
    yield "utf-32.xml", odd.encode("utf-32")
    yield "latin-1.xml", (HEAD.replace("utf-8", "latin-1") + odd).encode("latin-1")
    yield "cp1252.xml", (HEAD.replace("utf-8", "windows-1252") + odd).encode("cp1252")
    yield "mislabelled.xml", (HEAD + odd).encode("latin-1")
    yield "unknown.xml", (HEAD.replace("utf-8", "x-none") + odd).encode()
    yield "transforming.xml", (HEAD.replace("utf-8", "zlib_codec") + odd).encode()
    yield "utf-7.xml", (HEAD.replace("utf-8", "utf-7") + GOOD).encode("utf-7")
    yield "binary.xml", bytes(range(256)) * 4000
    yield "elf.xml", b"\x7fELF" + b"\0" * 100_000


def _huge() -> Iterator[tuple[str, bytes]]:
    yield "attribute-11m.xml", GOOD.replace("assert 1", "x" * (11 * _MIB)).encode()
    yield "name-11m.xml", GOOD.replace("test_b", "x" * (11 * _MIB)).encode()
    yield "text-12m.xml", GOOD.replace("AssertionError", "y" * (12 * _MIB)).encode()
    lines = CASE.format("<system-out>" + "out\n" * (6 * _MIB) + "</system-out>")
    yield "output-24m.xml", f"<testsuite>{lines}</testsuite>".encode()
    yield (
        "comment-12m.xml",
        GOOD.replace("<failure", f"<!--{'z' * (12 * _MIB)}--><failure").encode(),
    )
    yield "tag-4m.xml", f"<testsuite><{'t' * (4 * _MIB)}/></testsuite>".encode()


def _packed() -> Iterator[tuple[str, bytes]]:
    yield "gzip.xml", gzip.compress(GOOD.encode())
    yield "gzip-cut.xml.gz", gzip.compress(GOOD.encode() * 50)[:-40]
    yield "gzip-bomb.xml", gzip.compress(b"<testsuite>") + gzip.compress(b" " * _MIB) * 300
    yield "gzip-members.xml.gz", gzip.compress(b"<testsuite/>") * 20_000
    yield "gzip-junk.xml.gz", b"\x1f\x8b" + b"junk" * 100
    yield "zip.zip", _zip({"a/report.xml": GOOD.encode(), "notes.txt": b"x"})
    slip = {"../../../tmp/slip.xml": GOOD.encode(), "/abs.xml": GOOD.encode()}
    yield "zip-slip.zip", _zip(slip)
    yield "zip-bomb.zip", _zip({"b.xml": b"<testsuite>" + b" " * (100 * _MIB)})
    yield "zip-many.zip", _zip({f"{n}.xml": b"<testsuite/>" for n in range(5000)})
    yield "zip-empty.zip", _zip({})
    yield "zip-no-xml.zip", _zip({"a.txt": b"x"})
    yield "zip-cut.zip", _zip({"a.xml": GOOD.encode() * 50})[:-60]
    damaged = bytearray(_zip({"a.xml": b"<testsuite/>" + GOOD.encode()}))
    damaged[40:60] = bytes(20)
    yield "zip-damaged.zip", bytes(damaged)
    yield "zip-in-zip.zip", _zip({"a.xml": _zip({"b.xml": GOOD.encode()})})


def _zip(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()
