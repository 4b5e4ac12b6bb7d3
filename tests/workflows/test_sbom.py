"""The list of the image's software: what is attested names what the image holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.long

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="the image is Debian's")
def test_the_list_names_packages_of_both_kinds_with_their_versions() -> None:
    script = (ROOT / ".github/sbom.py").read_bytes()
    done = subprocess.run(
        [sys.executable, "-I", "-"], input=script, capture_output=True, check=True
    )
    told = json.loads(done.stdout)
    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.5")
    assert told["serialNumber"].startswith("urn:uuid:")
    found = {part["purl"] for part in told["components"]}
    assert f"pkg:pypi/pytest@{version('pytest')}" in found
    assert any(url.startswith("pkg:deb/debian/dpkg@") for url in found)
    assert len(found) == len(told["components"])


def test_the_image_that_is_attested_is_the_one_that_was_asked() -> None:
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    steps = release["jobs"]["image"]["steps"]
    (attested,) = (step for step in steps if "attest-sbom@" in step.get("uses", ""))
    assert attested["with"]["subject-digest"] == "${{ steps.push.outputs.digest }}"
    assert attested["with"]["sbom-path"] == "sbom.json"
    assert '"$digest" -I -' in next(step["run"] for step in steps if step.get("id") == "push")
