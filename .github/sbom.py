"""The software in the image as CycloneDX, told by the image itself: Debian's and Python's packages.

Run in the image: `docker run --rm -i --entrypoint python IMAGE -I - < .github/sbom.py`.
"""

import json
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from importlib.metadata import distributions


def python_packages() -> Iterator[tuple[str, str, str]]:
    for found in distributions():
        name = re.sub(r"[-_.]+", "-", found.metadata["Name"]).lower()
        yield name, found.version, f"pkg:pypi/{name}@{found.version}"


def debian_packages() -> Iterator[tuple[str, str, str]]:
    asked = ["dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${Architecture}\n"]
    for line in subprocess.run(
        asked, capture_output=True, text=True, check=True
    ).stdout.splitlines():
        name, version, machine = line.split("\t")
        yield name, version, f"pkg:deb/debian/{name}@{version.replace('+', '%2B')}?arch={machine}"


found = sorted({*python_packages(), *debian_packages()})
json.dump(
    {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "components": [
            {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
            for name, version, url in found
        ],
    },
    sys.stdout,
)
