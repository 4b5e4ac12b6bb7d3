"""The page in a real Chromium: what it shows, that nothing foreign runs, keyboard, names, paper."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from heal_bot.report.html import render_page
from tests.github_server import records
from tests.report.test_pull_request_body import BASE

pytestmark = pytest.mark.slow

FOREIGN = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    "<iframe src=https://evil.example></iframe><a href=javascript:alert(4)>x</a>"
    "<style>*{background:url(https://evil.example)}</style>'\"`${alert(5)}{{7*7}}"
    "\u202e\u2028\u200b\U000e0041-->]]>"
)
OURS = {
    "H1", "H2", "SECTION", "P", "B", "UL", "OL", "LI", "SPAN", "DIV", "TABLE", "THEAD", "TBODY",
    "TR", "TH", "TD", "DETAILS", "SUMMARY", "CODE", "PRE", "HEADER", "H3", "BUTTON", "MARK",
}  # fmt: skip

# The diff as a screen reader tells it: what goes and what comes have a sign, not only a colour.
CHANGE = (
    'text: "diff --git a/shop/pricing.py b/shop/pricing.py @@ -5,7 +5,7 @@ def total(prices):'
    ' \\"\\"\\"The sum of all prices.\\"\\"\\" - return sum(prices"',
    'mark: "[1:]"',
    'text: ") + return sum(prices) def discount(price, percent):"',
)
# What the page itself reports: broken policies are collected from the first moment on.
WATCH = """
window.broken = [];
addEventListener("securitypolicyviolation", (event) => broken.push(event.violatedDirective));
"""
# The weakest contrast of any visible text with what lies behind it, after WCAG 2.
CONTRAST = """() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => parts(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (parts(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  let worst = [21, ""];
  for (const node of document.body.querySelectorAll("main *")) {
    if (![...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, node.textContent];
  }
  return worst;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if not chromium:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no playwright here: pip install -e .[browser]"
    )
    with playwright.sync_playwright() as driver:
        # Its own sandbox needs a user that is not root; every page here is ours.
        opened = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


class Seen:
    """A page with everything it asked for, said and raised."""

    def __init__(self, browser: Any, path: Path, **how: Any) -> None:
        self.requests: list[str] = []
        self.said: list[str] = []
        context = browser.new_context(viewport={"width": 1100, "height": 800}, **how)
        self.page = context.new_page()
        self.page.add_init_script(WATCH)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("requestfailed", self._failed)
        self.page.on("dialog", self._dialog)
        self.page.goto(path.as_uri())

    def _failed(self, request: Any) -> None:
        """What the policy stopped was never sent."""
        if request.failure == "csp":
            self.requests.remove(request.url)

    def _dialog(self, dialog: Any) -> None:
        self.said.append(f"dialog {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    shown: list[Seen] = []

    def opened(values: dict[str, Any], **how: Any) -> Seen:
        path = tmp_path / f"report-{len(shown)}.html"
        path.write_text(render_page(records.record(values)))
        shown.append(Seen(browser, path, **how))
        return shown[-1]

    yield opened
    for seen in shown:
        seen.page.context.close()


def _places(values: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every text in plain data."""
    if isinstance(values, str):
        yield way
    elif isinstance(values, dict | list):
        for key, value in values.items() if isinstance(values, dict) else enumerate(values):
            yield from _places(value, (*way, key))


def _foreign() -> tuple[dict[str, Any], int]:
    """The record with foreign text in every field whose schema lets it in, and in how many."""
    values, taken = records.data(BASE), 0
    for way in list(_places(values)):
        changed = copy.deepcopy(values)
        inner: Any = changed
        for key in way[:-1]:
            inner = inner[key]
        inner[way[-1]] = ("+" if way[-1] == "diff" else "") + FOREIGN
        try:
            records.record(changed)
        except ValidationError:
            continue
        values, taken = changed, taken + 1
    for attempt in values["attempts"]:
        attempt["messages"] = {FOREIGN: FOREIGN}
    values["certificate"]["methods"] = {FOREIGN: "oracle"}
    values["certificate"]["doubts"] = [FOREIGN]
    return values, taken


def _many(failures: int) -> dict[str, Any]:
    data = records.data(BASE)
    failure, attempt = data["failures"][0], data["attempts"][0]
    tests = [f"tests/test_something_{n}.py::TestLong::test_{n}" for n in range(failures)]
    data["failures"] = [{**failure, "test": test, "message": "m " * 150} for test in tests]
    data["attempts"] = [
        {**attempt, "number": n, "still_failing": tests[n:], "fixed": tests[:n], "messages": {}}
        for n in range(1, 11)
    ]
    return data


def _unfold(seen: Seen) -> None:
    for summary in seen.page.locator("summary").all():
        summary.click()


def test_foreign_text_in_every_field_is_shown_and_never_runs(show: Any) -> None:
    values, taken = _foreign()
    assert taken > 40
    seen = show(values)
    _unfold(seen)
    seen.page.wait_for_timeout(300)
    assert seen.said == []
    assert seen.requests == [seen.page.url]
    assert seen.page.evaluate("broken") == []
    tags = seen.page.evaluate("[...new Set([...main.querySelectorAll('*')].map((n) => n.tagName))]")
    assert set(tags) <= OURS
    shown = seen.page.inner_text("main")
    assert shown.count("<script>alert(1)</script>") > 15
    assert "\\u{202e}\\u{2028}\\u{200b}\\u{e0041}" in shown
    assert not set("\u202e\u2028\u200b\U000e0041") & set(shown)


@pytest.mark.parametrize(
    ("markup", "directive"),
    [
        ("script.textContent = 'window.ran = 1'", "script-src-elem"),
        ("image.src = 'https://evil.example/p.png'", "img-src"),
        ("style.textContent = '* { color: red }'", "style-src-elem"),
        ("iframe.src = 'https://evil.example'", "frame-src"),
    ],
)
def test_the_policy_stops_what_a_hole_in_the_script_would_let_in(
    show: Any, markup: str, directive: str
) -> None:
    name, seen = markup.split(".", maxsplit=1)[0], show(records.data(BASE))
    tag = {"image": "img"}.get(name, name)
    seen.page.evaluate(
        f"() => {{ const {name} = document.createElement('{tag}'); {markup};"
        f" document.body.append({name}); }}"
    )
    seen.page.wait_for_function("broken.length")
    assert seen.page.evaluate("broken") == [directive]
    assert seen.page.evaluate("window.ran") is None
    assert seen.requests == [seen.page.url]


def test_every_part_has_a_name_and_a_role(show: Any) -> None:
    seen = show(records.data(BASE))
    told = [
        line.strip().strip("-' ") for line in seen.page.locator("body").aria_snapshot().split("\n")
    ]
    parts = [line for line in told if line.startswith(("region", "group", "table", "heading"))]
    assert parts == [
        'heading "Fixes 1 of 2 failing tests" [level=1]',
        'region "What was wrong":', 'heading "What was wrong" [level=2]',
        'region "The verified change":', 'heading "The verified change" [level=2]',
        'group "change, line by line":',
        'region "Tests × attempts":', 'heading "Tests × attempts" [level=2]',
        'group "Tests × attempts, scrolls":', 'table "Tests × attempts":',
        'region "Tests":', 'heading "Tests" [level=2]',
        'group "Tests, scrolls":', 'table "Tests":',
        'region "Attempts":', 'heading "Attempts" [level=2]',
        'group: "1. rules, boundary in total: fixes none"',
        'group: "2. rules, boundary in total: fixes 1 of 1, in the patch"',
        'region "What is shown":', 'heading "What is shown" [level=2]',
        'heading "Proved" [level=3]', 'heading "Inferred" [level=3]',
        'heading "Not shown" [level=3]', 'heading "Remarks" [level=3]',
        'region "Suspects":', 'heading "Suspects" [level=2]',
        'group "Suspects, scrolls":', 'table "Suspects":',
        'region "How it was verified":', 'heading "How it was verified" [level=2]',
        "group: Certificate",
    ]  # fmt: skip
    for line in (
        *CHANGE,
        "main:", 'rowheader "tests/test_pricing.py::test_total"',
        'row "tests/test_pricing.py::test_total still fails passes":', 'cell "still fails": ✗',
    ):  # fmt: skip
        assert line in told
    assert seen.page.evaluate("document.documentElement.lang") == "en"
    assert seen.page.title() == "heal-bot: Fixes 1 of 2 failing tests"
    assert seen.page.get_by_role("img", name="1 of 2 failing tests fixed").is_visible()
    assert seen.page.locator("th:empty").count() == 0


def test_code_in_a_sentence_is_code_and_an_odd_backtick_stays(show: Any) -> None:
    values = records.data(BASE)
    values["attempts"][1]["rationale"] = "`<` becomes `<=` on line 3"
    values["attempts"][1]["detail"] = "an odd ` stays"
    seen = show(values)
    _unfold(seen)
    causes = seen.page.get_by_role("region", name="What was wrong")
    assert causes.locator("code").all_inner_texts()[-2:] == ["<", "<="]
    assert "repair: < becomes <= on line 3" in causes.inner_text()
    assert seen.page.get_by_text("an odd ` stays").is_visible()


def _focused(seen: Seen) -> str:
    return str(
        seen.page.evaluate(
            "document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText"
        )
    )


def test_the_keyboard_reaches_and_opens_everything_in_the_order_of_the_page(show: Any) -> None:
    seen = show(records.data(BASE))
    order = []
    for _ in range(8):
        seen.page.keyboard.press("Tab")
        order.append(_focused(seen).split(".", maxsplit=1)[0])
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert seen.page.evaluate(outline) == "solid"
    assert order == [
        "Copy the patch", "Copy the apply command", "Tests × attempts, scrolls", "Tests, scrolls",
        "1", "2", "Suspects, scrolls", "Certificate",
    ]  # fmt: skip
    for _ in range(2):
        seen.page.keyboard.press("Shift+Tab")
    for key, opened in (("Enter", True), ("Space", False), ("Space", True)):
        seen.page.keyboard.press(key)
        assert seen.page.evaluate("document.activeElement.parentElement.open") is opened
    seen.page.locator("details").get_by_text("sums every price").wait_for(state="visible")


def test_arrow_keys_move_a_table_that_scrolls(show: Any) -> None:
    seen = show(_many(500))
    box = seen.page.get_by_role("group", name="Tests, scrolls")
    box.focus()
    for key in ("ArrowDown", "PageDown"):
        before = box.evaluate("(node) => node.scrollTop")
        seen.page.keyboard.press(key)
        seen.page.wait_for_function("(was) => document.activeElement.scrollTop > was", arg=before)
    head = box.locator("th").first
    assert abs(head.bounding_box()["y"] - box.bounding_box()["y"]) < 3, "the head stays in sight"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_in_light_and_dark(show: Any, scheme: str) -> None:
    seen = show(records.data(BASE), color_scheme=scheme)
    _unfold(seen)
    back = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}[scheme]
    ratio, text = seen.page.evaluate(CONTRAST)
    assert ratio >= 4.5, text


@pytest.mark.parametrize("width", [320, 768])
def test_a_narrow_window_cuts_nothing_off(show: Any, width: int) -> None:
    seen = show(records.data(BASE))
    seen.page.set_viewport_size({"width": width, "height": 800})
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.page.get_by_text('"""The sum of all prices."""').first.is_visible()
    assert seen.page.locator(".again:visible").count() == 0
    evidence = seen.page.get_by_role("table", name="Suspects").locator("td").last
    assert evidence.bounding_box()["width"] > 200, "beside it a row would be all height"


def test_a_phone_shows_all_of_a_real_run_within_its_width(show: Any) -> None:
    seen = show(json.loads((Path(__file__).parent / "outcomes" / "shop.json").read_text()))
    seen.page.set_viewport_size({"width": 360, "height": 800})
    _unfold(seen)
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_buttons_copy_the_patch_and_the_command_that_applies_it(show: Any) -> None:
    values = records.data(BASE)
    seen = show(values)
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    seen.page.get_by_role("button", name="Copy the patch").click()
    seen.page.get_by_role("button", name="Copied").wait_for()
    read = "navigator.clipboard.readText()"
    assert seen.page.evaluate(read).replace("\r", "") == values["patch"]["diff"]
    seen.page.get_by_role("button", name="Copy the apply command").click()
    seen.page.wait_for_function("async () => (await navigator.clipboard.readText())[0] === 'h'")
    folder = Path(seen.page.url.removeprefix("file://")).parent
    assert seen.page.evaluate(read) == f"heal-bot apply --bundle '{folder}'"
    assert seen.said == []


def test_parameters_are_one_row_whose_cells_count_them(show: Any) -> None:
    values = records.data(BASE)
    tests = [f"tests/t.py::test_split[{n}]" for n in range(300)]
    first = values["failures"][0] | {"message": "assert 5 == 9\n +  where 5 = clamp(99, 5, 9)"}
    values["failures"] = [
        first | {"test": test, "status": "fixed" if n < 293 else "still_failing"}
        for n, test in enumerate(tests)
    ]
    values["attempts"][1] |= {"fixed": tests[:293], "still_failing": tests[293:]}
    seen = show(values)
    row = seen.page.get_by_role("table", name="Tests × attempts").get_by_role("row").last
    assert row.inner_text().split("\t") == ["tests/t.py::test_split: 300 parameters", "", "293/300"]
    assert seen.page.get_by_role("cell", name="293 passes, 7 still fails").is_visible()
    rows = seen.page.get_by_role("table", name="Tests", exact=True).get_by_role("row")
    assert rows.count() == 3
    assert rows.nth(1).locator(".got").inner_text() == "got 5"
    assert rows.nth(1).locator(".expected").inner_text() == "expected 9"


def test_words_of_python_are_coloured_and_what_changed_within_a_line_is_marked(show: Any) -> None:
    seen = show(records.data(BASE))
    change = seen.page.get_by_role("group", name="change, line by line").first
    assert change.locator("mark").all_inner_texts() == ["[1:]"]
    assert "return" in change.locator(".word").all_inner_texts()
    assert '"""The sum of all prices."""' in change.locator(".string").all_inner_texts()


def test_without_a_patch_the_closest_attempt_is_open(show: Any) -> None:
    values = records.data(BASE) | {"patch": None, "certificate": None, "status": "not_healed"}
    values["failures"][0]["status"] = "still_failing"
    seen = show(values)
    assert seen.page.get_by_role("heading", name="No fix found").is_visible()
    closest = seen.page.get_by_role("region", name="The closest attempt")
    assert closest.get_by_text("fixes 1 of 1").is_visible()
    assert closest.get_by_role("group", name="change, line by line").is_visible()
    assert seen.page.get_by_role("button").count() == 0


def test_paper_shows_all_of_it_in_light(show: Any) -> None:
    seen = show(_many(40), color_scheme="dark")
    assert seen.page.locator("details[open]").count() == 0
    assert seen.page.pdf().startswith(b"%PDF")
    assert seen.page.locator("details:not([open])").count() == 0
    seen.page.emulate_media(media="print", color_scheme="dark")
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    cut = "[...document.querySelectorAll('.scroll')].filter((n) => n.scrollHeight > n.clientHeight)"
    assert seen.page.evaluate(f"{cut}.length") == 0


def test_500_failures_stay_fluent(show: Any) -> None:
    seen = show(_many(500))
    assert seen.page.get_by_role("rowheader").count() == 1000
    console = seen.page.context.new_cdp_session(seen.page)
    console.send("Performance.enable")

    def spent() -> float:
        metrics = console.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    loaded = spent()
    assert loaded < 3, "seconds of the renderer until the page stands"
    frames = seen.page.evaluate("""async () => {
      const waits = [], box = document.querySelector(".scroll");
      for (let i = 0, last = performance.now(); i < 60; i++) {
        scrollBy(0, 40); box.scrollBy(0, 400);
        await new Promise(requestAnimationFrame);
        waits.push(performance.now() - last); last = performance.now();
      }
      return waits.sort((a, b) => a - b);
    }""")
    assert frames[30] < 50, "the middle frame, in milliseconds"
    assert spent() - loaded < 3


def test_a_question_shows_both_changes_and_copies_the_command_that_takes_one(show: Any) -> None:
    values = records.asked(BASE)
    values["question"]["call"] = FOREIGN
    values["question"]["answers"][1]["result"] = FOREIGN
    seen = show(values)
    asked = seen.page.get_by_role("region", name="Which change is right?")
    assert asked.get_by_text("A: 0").is_visible()
    assert "return prices[0]" in asked.inner_text()
    assert seen.page.get_by_text("A change that passes, but").count() == 0
    seen.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    asked.get_by_role("button", name="Copy the command that takes B").click()
    asked.get_by_role("button", name="Copied").wait_for()
    folder = Path(seen.page.url.removeprefix("file://")).parent
    copied = seen.page.evaluate("navigator.clipboard.readText()")
    assert copied == f"heal-bot apply --bundle '{folder}' --pick B"
    assert seen.said == []
