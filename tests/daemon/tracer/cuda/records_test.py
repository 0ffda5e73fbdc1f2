"""Every version of the CUPTI records that a window reads is asserted in hook_signatures.cc.

    records_test.py HEADERS SOURCE_DIR
"""
import pathlib
import re
import sys

# First version whose fields lie where activity_layout.h says.
READ = {"Kernel": 4, "Memcpy": 3, "Memset": 2, "Synchronization": 1, "Overhead": 1}


def main():
    headers, root = map(pathlib.Path, sys.argv[1:])
    declared = "".join(path.read_text() for path in sorted(headers.glob("cupti_activity*.h")))
    asserted = (root / "tests/daemon/tracer/cuda/hook_signatures.cc").read_text()
    missing, seen = [], 0
    for name, version in re.findall(r"^} CUpti_Activity([A-Z][a-z]+)([0-9]*);", declared, re.MULTILINE):
        if name not in READ or int(version or 1) < READ[name]:
            continue
        seen += 1
        if f"(CUpti_Activity{name}{version})" not in asserted:
            missing.append(f"CUpti_Activity{name}{version}: declared by the header, not asserted")
    print("\n".join(missing) or f"{seen} records: all asserted")
    return 1 if missing or not seen else 0


sys.exit(main())
