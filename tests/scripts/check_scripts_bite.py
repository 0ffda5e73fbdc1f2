#!/usr/bin/env python3
"""The checkers must find what they are for: each planted fault is reported, a clean tree is not."""
import pathlib
import subprocess
import sys
import tempfile

CLEAN_HEADER = "// What it is.\n// Who uses it.\n#ifndef FATHOM_PROTO_TYPES_A_H_\n#define FATHOM_PROTO_TYPES_A_H_\n#endif\n"
CASES = [  # script, file, text, expected part of the message (None = clean)
    ("check_includes", "daemon/tracer/a.cc", '#include "daemon/abi/x.h"\n', None),
    ("check_includes", "daemon/tracer/a.cc", '#include "daemon/agent/x.h"\n', "must not include daemon/agent"),
    ("check_includes", "daemon/tracer/a.cc", "#include <string>\n", "must not use string"),
    ("check_includes", "daemon/agent/a.cc", '#include "daemon/tracer/x.h"\n', "must not include"),
    ("check_includes", "diagnosis/a.cc", '#include "fathom/v1/report.pb.h"\n', "must not include"),
    ("check_includes", "diagnosis/a.cc", "#include <thread>\n", "must not use"),
    ("check_includes", "collector/a.cc", '#include "daemon/agent/x.h"\n', "must not include"),
    ("check_includes", "tests/fakes/nccl/a.cc", '#include "daemon/abi/x.h"\n', "must not include daemon/abi"),
    ("check_includes", "tests/fakes/a.cc", '#include "daemon/abi/x.h"\n', None),
    ("check_style", "proto/types/a.h", CLEAN_HEADER, None),
    ("check_style", "proto/types/a.h", "#pragma once\n", "include guard"),
    ("check_style", "proto/types/a.cc", "int x;\n" * 501, "501 lines"),
    ("check_style", "daemon/util/a.md", "text\n", "without a subject"),
    ("check_style", "extra/a.md", "text\n", "top-level"),
    ("check_style", "docs/a.md", "see /ro" + "ot/x\n", "path of one machine"),
]


def run(scripts, script, file, text):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        (root / file).parent.mkdir(parents=True)
        (root / file).write_text(text)
        done = subprocess.run([f"{scripts}/{script}", folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main(scripts):
    bad = 0
    for script, file, text, expected in CASES:
        code, output = run(scripts, script, file, text)
        right = code == 0 if expected is None else code == 1 and expected in output
        if not right:
            print(f"{script} on {file}: expected {expected!r}, got {code} {output!r}")
            bad += 1
    print(f"{len(CASES) - bad} of {len(CASES)} right")
    return 1 if bad else 0


sys.exit(main(sys.argv[1]))
