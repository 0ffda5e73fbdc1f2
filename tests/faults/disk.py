"""A small disk of its own for one part, which can be filled and made empty again."""
import errno
import os
import shutil
import subprocess


class Disk:
    """A folder; `small` where it is a file system of SIZE_MIB of its own, which only root can make."""
    SIZE_MIB = 64

    def __init__(self, folder):
        self.folder, self.ballast = folder, folder / "ballast"
        folder.mkdir(mode=0o700)
        made = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={self.SIZE_MIB}m,mode=0700", "tmpfs", folder], capture_output=True).returncode == 0
        self.small = made

    def fill(self):
        """Until nothing more can be written."""
        with open(self.ballast, "ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as full:
                    if full.errno != errno.ENOSPC:
                        raise

    def empty(self):
        self.ballast.unlink()

    def close(self, keep):
        """Ends the disk. To keep: what lies on it is copied into a plain folder first."""
        if not self.small:
            return
        kept = f"{self.folder}.kept"
        if keep:
            shutil.copytree(self.folder, kept, ignore=shutil.ignore_patterns("ballast"))
        subprocess.run(["umount", "-l", self.folder], check=True)
