#!/usr/bin/env python3
"""The manual pages: as the programs say it, each option and verb there, rendered without a warning.

    man_pages_test.py SOURCE_DIR BINARY_DIR
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BINARIES = map(pathlib.Path, sys.argv[1:3])
PROGRAMS = {"fathom": "1", "fathomd": "8", "fathom-collector": "8", "fathom-cordon": "8"}


def out(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def helps(command):
    """The help texts of a program and of all verbs below it."""
    text = out(*command, "--help")
    yield text
    verbs = text.split("\nSubcommands:\n")[1].split("\n\n")[0] if "\nSubcommands:\n" in text else ""
    for verb in re.findall(r"^  (\S+)", verbs, re.M):
        yield from helps([*command, verb])


class ManPagesTest(unittest.TestCase):
    def setUp(self):
        if not shutil.which("groff"):
            sys.exit(77)

    def page(self, program):
        return out(SOURCE / "deploy/scripts/man_page", BINARIES / program, PROGRAMS[program])

    def rendered(self, page):
        """What a reader sees, in one line; stderr must be empty."""
        with tempfile.NamedTemporaryFile("w", suffix=".1") as file:
            file.write(page)
            file.flush()
            run = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-rLL=400n", "-P-cbou", file.name],
                                 capture_output=True, text=True, check=True)
            self.assertEqual(run.stderr, "")
            if shutil.which("mandoc"):
                subprocess.run(["mandoc", "-Tlint", "-Werror", file.name], check=True)
            if shutil.which("man"):
                self.assertIn("SEE ALSO", out("man", "--warnings", "-l", file.name))
        return " ".join(run.stdout.replace("\u2010", "-").replace("\u2212", "-").split())

    def test_each_option_and_verb_of_each_help_is_there(self):
        for program in PROGRAMS:
            text = self.rendered(self.page(program))
            for help_text in helps([BINARIES / program]):
                options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, re.M)) - {"--help"}
                for option in options:
                    self.assertRegex(text, rf"{option}(?![\w-])", program)
                for example in re.findall(r"^  (fathom .*)$", help_text, re.M):
                    self.assertIn(" ".join(example.split()), text)

    def test_sections_and_versions(self):
        for program, section in PROGRAMS.items():
            page = self.page(program)
            text = self.rendered(page)
            version = out(BINARIES / program, "--version").split()[1]
            self.assertIn(f'.TH {program.upper()} {section} "" "fathom {version}"', page)
            for part in ("NAME", "SYNOPSIS", "OPTIONS", "SEE ALSO"):
                self.assertIn(f' {part} ', text, program)
            self.assertIn("SIGHUP" if section == "8" else "fathom action approve", text)

    def test_what_a_help_must_not_do_to_a_page(self):
        sys.path.insert(0, str(SOURCE / "deploy/scripts"))
        loader = {}
        exec((SOURCE / "deploy/scripts/man_page").read_text().replace("__main__", "not"), loader)
        self.assertEqual(loader["escape"](".so /etc/passwd"), "\\&.so /etc/passwd")
        self.assertEqual(loader["escape"]("a\\b…"), "a\\eb\\[u2026]")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
