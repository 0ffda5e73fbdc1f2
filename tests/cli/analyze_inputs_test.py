#!/usr/bin/env python3
"""`fathom analyze` on archives, hostile ones included, on a terminal, and interrupted."""
import bz2
import io
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

BUILD = pathlib.Path(os.environ["FATHOM_BINARY_DIR"])
DATA = pathlib.Path(os.environ["FATHOM_DATA_DIR"]) / "torch_gloo"
RECORDING = "slow_python"
MIB = 1 << 20


class Zeros(io.RawIOBase):
    """A file of so many zeros that takes no room."""

    def __init__(self, size):
        self.left = size

    def read(self, size=-1):
        count = self.left if size < 0 else min(size, self.left)
        self.left -= count
        return bytes(count)


def stored_zstd(data):
    """A zstd frame of raw blocks, as its format allows: Python has no compressor for it."""
    frame, block = [b"\x28\xb5\x2f\xfd", b"\x00", b"\x38"], 1 << 17  # no size, a window of 128 KiB
    for at in range(0, max(len(data), 1), block):
        piece = data[at:at + block]
        last = at + block >= len(data)
        frame += [(len(piece) << 3 | last).to_bytes(3, "little"), piece]
    return b"".join(frame)


class Inputs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-inputs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}

    def command(self, *arguments):
        return [str(BUILD / "fathom"), "analyze", *map(str, arguments)]

    def analyze(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=60, env=self.environment)

    def left_behind(self):
        return list(self.temporary.iterdir())

    def verdicts(self, path):
        done = self.analyze(path, "-o", "json", "--exit-zero")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left_behind(), [])
        return [(v["cause"], v["grade"], v["entity"]["ranks"]) for v in json.loads(done.stdout)["verdicts"]]

    def tar(self, name, mode):
        path = self.folder / name
        with tarfile.open(path, mode) as out:
            out.add(DATA / RECORDING, arcname="job")
        return path

    def link(self, of, name):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(DATA / of, self.folder / name)

    def test_jobs_in_folders_of_their_own_are_judged_each(self):
        self.link("slow_python", "runs/one")
        self.link("healthy", "runs/two")
        done = self.analyze(self.folder / "runs")
        self.assertEqual(done.returncode, 2, done.stderr)
        first, second = done.stdout.split("== job 2 of 2: " + str(self.folder / "runs" / "two"))
        self.assertIn("== job 1 of 2: " + str(self.folder / "runs" / "one"), first)
        self.assertIn("rank 1", first)
        self.assertIn("Nothing wrong", second)
        refused = self.analyze(self.folder / "runs", "-o", "json")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("two jobs, name one of", refused.stderr)

    def test_a_mixed_folder_says_what_each_file_was_taken_for(self):
        self.link("slow_python", "mixed")
        (self.folder / "mixed" / "kineto" / "broken.json").write_text('{"traceEvents": [{"cat": "cpu_op"')
        (self.folder / "mixed" / "notes.txt").write_text("by hand")
        short = self.analyze(self.folder / "mixed").stdout
        self.assertIn("Files: ", short)
        self.assertIn("4 kineto (ranks 0-3)", short)
        self.assertIn("4 flight-recorder (ranks 0-3)", short)
        self.assertIn("1 left out, 2 ignored", short)  # truth.json is the other
        at_length = self.analyze(self.folder / "mixed", "--verbose").stdout
        self.assertRegex(at_length.replace("\n", "").replace(" ", ""), r"rank2\.json\.gz:kineto,rank2")
        report = json.loads(self.analyze(self.folder / "mixed", "-o", "json").stdout)
        files = {pathlib.Path(f["path"]).name: f for f in report["coverage"]["files"]}
        self.assertEqual((files["_dump_3"]["format"], files["_dump_3"]["ranks"]), ("flight-recorder", [3]))
        self.assertEqual((files["notes.txt"]["format"], files["notes.txt"]["left_out"]), ("", ""))
        self.assertNotEqual(files["broken.json"]["left_out"], "")

    def test_dumps_and_traces_of_jobs_of_two_sizes_are_two_jobs(self):
        self.link("slow_python/kineto", "sizes/traces")
        shutil.copytree(DATA.parent / "flight_recorder" / "lock_gil", self.folder / "sizes" / "dumps")
        refused = self.analyze(self.folder / "sizes", "-o", "json")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("4 ranks", refused.stderr)
        self.assertIn("16", refused.stderr)

    def test_an_archive_of_ranks_is_a_folder_of_ranks(self):
        expected = self.verdicts(DATA / RECORDING)
        self.assertIn(("host_slow", [1]), [(cause, ranks) for cause, _, ranks in expected])
        archives = [self.tar("job.tar", "w"), self.tar("job.tar.gz", "w:gz"), self.tar("job.tar.xz", "w:xz")]
        packed = self.folder / "job.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
            for file in (DATA / RECORDING).rglob("*"):
                out.write(file, file.relative_to(DATA))
        zstd = self.folder / "job.tar.zst"
        zstd.write_bytes(stored_zstd(archives[0].read_bytes()))
        for archive in [*archives, packed, zstd]:
            with self.subTest(archive.name):
                self.assertEqual(self.verdicts(archive), expected)

    def test_notes_name_the_archive_and_not_where_it_was_unpacked(self):
        path = self.tar("job.tar", "w")
        with tarfile.open(path, "a") as out:
            extra = tarfile.TarInfo("job/readme.bin")
            extra.size = 3
            out.addfile(extra, io.BytesIO(b"abc"))
        done = self.analyze(path, "--exit-zero", "--verbose")
        self.assertIn("job.tar/job/readme.bin", done.stdout)
        self.assertNotIn(str(self.temporary), done.stdout)

    def test_a_cut_archive_gives_what_it_holds(self):
        path = self.tar("job.tar", "w")
        whole = path.read_bytes()
        path.write_bytes(whole[:len(whole) // 2])
        done = self.analyze(path, "--exit-zero")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("job.tar", done.stdout)
        self.assertEqual(self.left_behind(), [])

    def test_an_archive_without_a_recording_says_what_was_looked_for(self):
        path = self.folder / "other.zip"
        with zipfile.ZipFile(path, "w") as out:
            out.writestr("a.txt", "nothing")
        done = self.analyze(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("in it is a recording; looked for", done.stderr)
        self.assertIn("PyTorch's profiler", done.stderr)

    def test_a_bomb_ends_at_the_limit(self):
        path = self.folder / "bomb.tar.gz"
        with tarfile.open(path, "w:gz") as out:
            member = tarfile.TarInfo("rank0.json")
            member.size = 64 * MIB
            out.addfile(member, Zeros(member.size))
        done = self.analyze(path, "--limit-gib", "0.01")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--limit-gib", done.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_what_is_left_out_of_an_archive_counts_too(self):
        for names in [("..",), ("twice", "twice"), ("file", "file/below")]:
            path = self.folder / "bomb.tar.gz"
            with tarfile.open(path, "w:gz") as out:
                for name in names:
                    member = tarfile.TarInfo(name)
                    member.size = 64 * MIB if name == names[-1] else 1
                    out.addfile(member, Zeros(member.size))
            done = self.analyze(path, "--limit-gib", "0.01")
            with self.subTest(names):
                self.assertEqual(done.returncode, 1)
                self.assertIn("--limit-gib", done.stderr)
                self.assertEqual(self.left_behind(), [])

    def test_an_archive_starts_no_program(self):
        started = self.folder / "started"
        for name in ("lrzip", "grzip", "lzop"):
            program = self.folder / name
            program.write_text(f"#!/bin/sh\ntouch {started}\n")
            program.chmod(0o755)
        self.environment["PATH"] = f"{self.folder}:{self.environment['PATH']}"
        for magic in (b"LRZI\0\6", b"GRZipII\0\2\4:)", b"\x89LZO\0\r\n\x1a\n"):
            path = self.folder / "job.tar.bz2"
            path.write_bytes(bz2.compress(magic + bytes(4096)))
            self.assertEqual(self.analyze(path).returncode, 1)
            self.assertFalse(started.exists(), magic)

    def test_no_member_leaves_the_folder(self):
        path = self.folder / "evil.tar"
        with tarfile.open(path, "w") as out:
            for name in ("../../evil", str(self.folder / "evil"), "a/../../../evil"):
                member = tarfile.TarInfo(name)
                member.size = 4
                out.addfile(member, io.BytesIO(b"evil"))
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, str(self.folder)
            out.addfile(link)
            through = tarfile.TarInfo("link/evil")
            through.size = 4
            out.addfile(through, io.BytesIO(b"evil"))
        self.analyze(path)
        self.assertFalse((self.folder / "evil").exists())
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"evil.tar", "tmp"})
        self.assertEqual(self.left_behind(), [])

    def endless(self):
        path = self.folder / "large.tar.gz"
        with tarfile.open(path, "w:gz", compresslevel=1) as out:
            member = tarfile.TarInfo("rank0.json")
            member.size = 1024 * MIB
            out.addfile(member, Zeros(member.size))
        return path

    def test_interrupted_it_leaves_nothing_and_says_so_on_the_terminal(self):
        path = self.endless()
        leader, follower = pty.openpty()
        process = subprocess.Popen(self.command(path), stdout=subprocess.DEVNULL, stderr=follower, env=self.environment)
        os.close(follower)
        deadline = time.monotonic() + 20
        while not self.left_behind() and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)
        said = os.read(leader, 65536).decode()
        self.assertIn("interrupted", said)
        self.assertEqual(self.left_behind(), [])


if __name__ == "__main__":
    if not DATA.is_dir():
        print(f"skipped: no recordings at {DATA} (FATHOM_DATA_DIR)")
        sys.exit(77)
    unittest.main()
