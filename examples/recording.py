"""The pictures in the README: the demo's heal step, line by line as it was printed, and its report.

`make recording` runs the demo. It writes `docs/images/demo.svg`, which plays once and needs no
script (a viewer that knows no animation shows the whole text), and has Chromium take
`docs/images/report.png`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import takewhile

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from examples.demo import BUNDLE, ROOT

PICTURE = ROOT / "docs/images/demo.svg"
REPORT = ROOT / "docs/images/report.png"
_WIDTH = 100
_STEP = "=== heal, offline"
_TYPED = "$ heal-bot heal --junit junit.xml"
# The run takes as long as it takes; nobody waits for a picture longer than this, in seconds.
_PLAYED = 6.0
_STYLES = (
    (r"^\$ .*", "bold"),
    (r"^    -.*", "red"),
    (r"^    \+.*", "green"),
    (r"^  fixed: .*", "green"),
    (r"^  still failing: .*", "yellow"),
    (r"^(?:Fixes|next:).*", "bold"),
)


def record_lines() -> Iterator[tuple[float, str]]:
    """What the heal step of a demo prints, with the seconds since it began."""
    argv = [sys.executable, "-m", "examples.demo"]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        lines = iter(demo.stdout)
        for line in lines:
            if line.strip() == _STEP:
                break
        begin = time.monotonic()
        for line in takewhile(lambda text: not text.startswith("=== "), lines):
            yield time.monotonic() - begin, line.rstrip().replace(f"{ROOT}/", "")
        for _ in lines:
            pass
    if demo.returncode:
        sys.exit(f"the demo ended with {demo.returncode}")


def draw(lines: Iterable[tuple[float, str]]) -> str:
    """The lines as an SVG in which each appears at its time, shortened to what one waits for."""
    console = Console(record=True, width=_WIDTH, file=StringIO())
    shown: list[float] = []
    for at, line in [(0.0, _TYPED), *lines]:
        text = Text(line)
        for pattern, style in _STYLES:
            text.highlight_regex(pattern, style)
        rows = text.wrap(console, _WIDTH)
        console.print(*rows, sep="\n")
        shown += [at] * max(1, len(rows))
    svg = console.export_svg(title="heal-bot, offline", theme=MONOKAI, unique_id="demo")
    pace = min(1.0, _PLAYED / (shown[-1] or 1.0))

    def delay(match: re.Match[str]) -> str:
        second = shown[min(int(match[1]), len(shown) - 1)] * pace
        return f'{match[0]} style="animation-delay:{second:.1f}s"'

    played = "text[style]{animation:show 0.1s both}@keyframes show{from{opacity:0}}"
    still = "@media(prefers-reduced-motion:reduce){text[style]{animation:none}}"
    # A picture in a README loads no font.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code, ", "")
    svg = svg.replace("<style>", f"<style>{played}{still}", 1)
    return re.sub(r'clip-path="url\(#demo-line-(\d+)\)"', delay, svg)


def photograph_report() -> None:
    """The top of the demo's report page, as a browser shows it."""
    if (browser := shutil.which("chromium")) is None:
        sys.exit("no chromium on this machine: apt-get install chromium")
    argv = [
        browser, "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1200,1080",
        f"--screenshot={REPORT}", (BUNDLE / "report.html").as_uri(),
    ]  # fmt: skip
    subprocess.run(argv, check=True, capture_output=True, timeout=120)


def main() -> None:
    """Run the demo and write the pictures."""
    lines = list(record_lines())
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(lines) + "\n", encoding="utf-8")
    photograph_report()
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)}: {len(lines)} lines\n")


if __name__ == "__main__":
    main()
