"""The rows of an engine: those of the folder of `--data`, and those that the repository has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.street.figures import Row

FOLDER = Path(__file__).parent / "rows"


class Results:
    """The rows of an engine by id; `version` is its commit, in ten digits."""

    def __init__(self, folder: Path, version: str) -> None:
        self._folder = folder / version
        self._file = FOLDER / f"{version}.jsonl"
        self._folder.mkdir(parents=True, exist_ok=True)
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        lines += [path.read_text() for path in sorted(self._folder.glob("*.json"))]
        self._rows = {row.id: row for row in map(Row.model_validate_json, lines)}

    def __contains__(self, identity: str) -> bool:
        return identity in self._rows

    def keep(self, row: Row) -> None:
        """Write a row into the folder."""
        self._rows[row.id] = row
        path = self._folder / f"{row.id.replace('/', '+')}.json"
        path.write_text(row.model_dump_json(exclude_defaults=True))

    def rows(self, identities: Sequence[str]) -> list[Row]:
        """The rows of these cases, as far as there are any."""
        return [self._rows[identity] for identity in identities if identity in self._rows]

    def write(self) -> None:
        """Write all rows into the repository, without what is said of a case."""
        FOLDER.mkdir(exist_ok=True)
        lines = (
            row.model_dump_json(exclude_defaults=True, exclude={"said"})
            for _, row in sorted(self._rows.items())
        )
        self._file.write_text("".join(f"{line}\n" for line in lines))
