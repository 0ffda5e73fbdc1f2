#!/usr/bin/env python3
"""deploy/scripts/install_pinned installs what its lock knows, by hash, and else nothing.

    install_pinned_test.py SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
GOOD, BAD = "a" * 64, "b" * 64
# Writes the report that it was given, and what it was told to install.
PIP = """#!/usr/bin/env python3
import pathlib, shutil, sys
here, words = pathlib.Path(__file__).parent, sys.argv[1:]
if "--report" in words:
    shutil.copy(here / "report.json", words[words.index("--report") + 1])
else:
    (here / "installed").write_text(" ".join(words[:-1]) + "\\n" + pathlib.Path(words[-1]).read_text())
"""
REPORT = """{{"install": [{{"metadata": {{"name": "Py_Thing", "version": "{0}"}},
"download_info": {{"archive_info": {{"hashes": {{"sha256": "{1}"}}}}}}}}]}}"""


class InstallPinnedTest(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        (self.folder / "pip").write_text(PIP)
        (self.folder / "pip").chmod(0o755)
        (self.folder / "list.txt").write_text("py-thing==1.0\n")
        (self.folder / "list.lock").write_text(f"# words\npy-thing==1.0 \\\n    --hash=sha256:{'c' * 64} \\\n    --hash=sha256:{GOOD}\n")

    def install(self, version, digest):
        (self.folder / "report.json").write_text(REPORT.format(version, digest))
        return subprocess.run([ROOT / "deploy/scripts/install_pinned", self.folder / "pip", self.folder / "list.txt"],
                              capture_output=True, text=True, timeout=60)

    def test_what_the_lock_knows_is_installed_by_its_hash(self):
        for version in ("1.0", "1.0+cpu"):
            run = self.install(version, GOOD)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            words, line = (self.folder / "installed").read_text().splitlines()
            self.assertIn("--require-hashes --no-deps", words)
            self.assertEqual(line, f"Py_Thing=={version} --hash=sha256:{GOOD}")

    def test_another_file_or_version_is_not_and_nothing_is(self):
        for version, digest in (("1.0", BAD), ("1.1", GOOD)):
            run = self.install(version, digest)
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"Py_Thing=={version} (sha256:{digest}); nothing is installed", run.stderr)
            self.assertFalse((self.folder / "installed").exists())

    def test_the_lock_of_the_tree_holds_the_list(self):
        lock = (ROOT / "deploy/requirements.lock").read_text()
        for pin in filter(lambda line: line and line[0] != "#", (ROOT / "deploy/requirements.txt").read_text().splitlines()):
            self.assertRegex(lock, rf"(?m)^{re.escape(pin)} \\\n    --hash=sha256:[0-9a-f]{{64}}")


if __name__ == "__main__":
    unittest.main()
