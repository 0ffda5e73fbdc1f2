#!/usr/bin/env python3
"""The bill of materials: every entry of the lists of deploy/setup is in it, and it is CycloneDX.

    sbom_test.py SOURCE_DIR
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
LISTS = ("requirements.txt", "cuda_headers.txt", "nvcc.txt", "nccl_libraries.txt", "perfetto_schema.txt")


def sbom(*arguments, check=True):
    return subprocess.run([SOURCE / "deploy/scripts/sbom", *arguments], capture_output=True, text=True, check=check)


def entries(path):
    return [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


class Sbom(unittest.TestCase):
    def setUp(self):
        self.text = sbom().stdout
        self.bom = json.loads(self.text)
        self.parts = {(dict((p["name"], p["value"]) for p in c["properties"])["fathom:source"], c["name"], c["version"])
                      for c in self.bom["components"]}

    def test_its_form(self):
        self.assertEqual((self.bom["bomFormat"], self.bom["specVersion"]), ("CycloneDX", "1.5"))
        self.assertRegex(self.bom["serialNumber"], r"^urn:uuid:[0-9a-f-]{36}$")
        refs = [c["bom-ref"] for c in self.bom["components"]]
        self.assertEqual(len(refs), len(set(refs)))
        for component in self.bom["components"]:
            self.assertEqual(component["type"], "library")
            self.assertRegex(component["purl"], r"^pkg:(deb|pypi|npm)/\S+@\S+$")
            self.assertIn(component["scope"], ("required", "optional", "excluded"))
        known = {self.bom["metadata"]["component"]["bom-ref"], *refs}
        for each in self.bom["dependencies"]:
            self.assertLessEqual({each["ref"], *each["dependsOn"]}, known)

    def test_every_entry_of_the_lists_is_there(self):
        names = {name for source, name, _ in self.parts if source == "debian"}
        self.assertEqual(names, {words[1] for words in entries(SOURCE / "deploy/packages.debian")})
        for file in LISTS:
            for words in entries(SOURCE / "deploy" / file):
                self.assertIn(("pypi", *words[0].split("==")), self.parts)
        lock = json.loads((SOURCE / "collector/web/package-lock.json").read_text())["packages"]
        for path, package in lock.items():
            if path:
                self.assertIn(("npm", re.sub(r".*node_modules/", "", path), package["version"]), self.parts)

    def test_it_is_the_same_each_time(self):
        self.assertEqual(self.text, sbom().stdout)

    def test_a_group_alone(self):
        groups = {p["value"] for c in json.loads(sbom("--group", "run").stdout)["components"] for p in c["properties"]
                  if p["name"] == "fathom:group"}
        self.assertEqual(groups, {"run"})

    def test_a_line_that_is_none_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            shutil.copytree(SOURCE / "deploy", root / "deploy", ignore=shutil.ignore_patterns("grafana"))
            shutil.copy(SOURCE / "CMakeLists.txt", root)
            (root / "deploy/requirements.txt").write_text("torch>=2\n")
            run = sbom("--root", folder, check=False)
            self.assertEqual(run.returncode, 1)
            self.assertIn("deploy/requirements.txt:1: expected NAME==VERSION", run.stderr)


unittest.main(argv=sys.argv[:1])
