#!/usr/bin/env python3
"""What has to be loaded before `fathom` can answer; docs/design/0010-quick-start.md.

    needed_libraries_test.py PROGRAM LIBRARY...

Fails where the program needs a library that is not among those named."""
import re
import subprocess
import sys


def main():
    program, *allowed = sys.argv[1:]
    dynamic = subprocess.run(["readelf", "-dW", program], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"NEEDED.*\[(.+?)\.so", dynamic)
    if not needed:
        print(f"{program}: no list of needed libraries")
        return 1
    more = sorted(set(needed) - set(allowed))
    print("\n".join(f"loaded at every start, and not agreed: {name}" for name in more) or "as agreed: " + ", ".join(needed))
    return 1 if more else 0


sys.exit(main())
