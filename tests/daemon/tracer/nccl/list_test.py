"""The one list of NCCL functions (functions.h) against exports.map, docs/tracer/nccl.md and nccl.h."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("FATHOM_SOURCE_DIR", pathlib.Path(__file__).parents[4]))
# Functions of nccl.h that are left alone; docs/tracer/nccl.md says why.
LEFT_ALONE = re.compile(
    r"nccl(Mem\w+|GetVersion|GetUniqueId|CommGetUniqueId|GetErrorString|GetLastError|ResetDebugInit|RedOp\w+|"
    r"Comm(Count|CuDevice|UserRank|Register|Deregister|Window\w+|Suspend|Resume|MemStats|QueryProperties)|"
    r"WinGetUserPtr|GroupSimulateEnd|PutSignal|Signal|WaitSignal|SetEncryption|Param\w+|DevComm\w+)$")


def listed():
    text = (ROOT / "daemon/tracer/interpose/nccl/functions.h").read_text()
    lists = text[text.index("#define FATHOM_NCCL_OPS"):]
    return {"nccl" + name for name in re.findall(r"\bX\((\w+)[,)]", lists)} - {"ncclX"}


def main():
    names = listed()
    exports = set(re.findall(r"^\s+(nccl\w+);", (ROOT / "daemon/tracer/exports.map").read_text(), re.MULTILINE))
    page = set(re.findall(r"`(nccl\w+)`", (ROOT / "docs/tracer/nccl.md").read_text()))
    found = [f"{n}: in functions.h, not in exports.map" for n in sorted(names - exports)]
    found += [f"{n}: in exports.map, not in functions.h" for n in sorted(exports - names) if "Profiler" not in n]
    found += [f"{n}: not on docs/tracer/nccl.md" for n in sorted(names - page)]
    header = ROOT / ".cuda/include/nccl.h"
    if header.exists():
        public = set(re.findall(r"^\w[\w* ]*\b(nccl[A-Z]\w+)\(", header.read_text(), re.MULTILINE))
        found += [f"{n}: in nccl.h, neither hooked nor left alone"
                  for n in sorted(public - names) if not LEFT_ALONE.match(n)]
    print("\n".join(found) if found else f"{len(names)} functions: list, exports, page and header agree")
    return 1 if found else 0


sys.exit(main())
