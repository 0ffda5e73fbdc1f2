"""Gates on the built libfathom.so: what it exports, needs and weighs.

    check_library.py LIBFATHOM EXPORTS_MAP NEEDED_LIST
"""
import os
import re
import subprocess
import sys
import tempfile

# docs/design/0012: no event of ours is queried or timed, and nothing of ours runs on the job's streams.
NEVER_ASKED_FOR = (b"EventQuery", b"EventElapsedTime", b"LaunchHostFunc", b"StreamAddCallback", b"StreamWriteValue")
MAX_STRIPPED_BYTES = 300 * 1024
FOREIGN = re.compile(r"^_ZNSt|^_ZSt|^_ZNKSt|^__cxa_(?!finalize)|^__gxx|^_Unwind|^_Znw|^_Zdl|^_Zna|^_Zda|^__tls_get_addr|"
                     r"^(malloc|calloc|realloc|free|exit|abort|signal|sigaction|setlocale|setrlimit)$|"
                     r"^(pthread_(mutex|rwlock|cond|spin|barrier|once|create)|mtx_|cnd_|sem_|call_once|thrd_)")


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exports(library):
    lines = tool("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def mapped(path):
    with open(path) as file:
        inside = file.read().split("global:", 1)[1].split("local:", 1)[0]
    return set(re.findall(r"^\s*([A-Za-z0-9_]+);", inside, re.MULTILINE))


def differences(what, got, want):
    return ([f"{what} not in the list: {name}" for name in sorted(got - want)] +
            [f"{what} missing: {name}" for name in sorted(want - got)])


def stripped_size(library):
    with tempfile.NamedTemporaryFile() as copy:
        tool("strip", "-o", copy.name, library)
        return os.path.getsize(copy.name)


def main():
    library, exports_map, needed_list = sys.argv[1:]
    found = differences("export", exports(library), mapped(exports_map))
    dynamic = tool("readelf", "-dW", library)
    with open(needed_list) as file:
        found += differences("needed library", set(re.findall(r"NEEDED.*\[(.+)\]", dynamic)), set(file.read().split()))
    undefined = {line.split()[-1].split("@")[0] for line in tool("nm", "-D", "--undefined-only", library).splitlines()}
    found += [f"must not be used: {name}" for name in sorted(undefined) if FOREIGN.search(name)]
    for flag in ("NODELETE", "NOW"):
        if flag not in dynamic:
            found.append(f"not linked with -z {flag.lower()}")
    if "GNU_STACK" in (headers := tool("readelf", "-lW", library)) and re.search(r"GNU_STACK.*RWE", headers):
        found.append("asks for an executable stack")
    with open(library, "rb") as file:
        content = file.read()
    found += [f"knows the name of cu…{name.decode()}" for name in NEVER_ASKED_FOR if name in content]
    size = stripped_size(library)
    if size > MAX_STRIPPED_BYTES:
        found.append(f"stripped size {size} > {MAX_STRIPPED_BYTES}")
    print("\n".join(found) if found else f"exports, needed libraries and size ({size} bytes) as agreed")
    return 1 if found else 0


sys.exit(main())
