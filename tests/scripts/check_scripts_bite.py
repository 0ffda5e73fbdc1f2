#!/usr/bin/env python3
"""The checkers must find what they are for: each planted fault is reported, a clean tree is not.

    check_scripts_bite.py SCRIPTS [check_threads]    that one, which needs Clang, only by its name
"""
import pathlib
import subprocess
import sys
import tempfile

CLEAN_HEADER = "// What it is.\n// Who uses it.\n#ifndef FATHOM_PROTO_TYPES_A_H_\n#define FATHOM_PROTO_TYPES_A_H_\n#endif\n"
TWO_FILES = {"a.cc": "void Thing::A() {\n}\n", "b.cc": "void Thing::B() {\n}\n"}
LOCKS = "daemon/service/mutex.h"
GUARDED = f"""#include "{LOCKS}"
class Counter {{
 public:
  int Get() const {{ %s }}
  int Wait() {{
    const fathom::service::MutexLock lock(mutex_);
    wake_.Wait(mutex_, [this]()%s {{ return count_ > 0; }});
    return Taken();
  }}
 private:
  int Taken() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {{ return count_; }}
  using Mutex = fathom::service::Mutex;
  mutable Mutex mutex_;
  fathom::service::ConditionVariable wake_;
  int count_%s = 0;
}};
"""
HELD, BY = " ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_)", " ABSL_GUARDED_BY(mutex_)"
LOCKED = "const fathom::service::MutexLock lock(mutex_); return count_;"
CLASH = "namespace { int clash; }\n"
CASES = [  # script, file, text, expected part of the message (None = clean)[, further files]
    ("check_includes", "daemon/tracer/core/a.cc", '#include "daemon/abi/x.h"\n', None),
    ("check_includes", "daemon/tracer/core/a.cc", '#include "daemon/agent/x.h"\n', "must not include daemon/agent"),
    *[("check_includes", "daemon/tracer/core/a.cc", f"#include <{h}>\n", f"must not use {h}")
      for h in ("string", "deque", "set", "sstream", "optional", "absl/time/time.h", "boost/any.hpp")],
    ("check_includes", "daemon/tracer/core/a.cc", '#include "../agent/agent.h"\n', "relative or absolute"),
    ("check_includes", "daemon/tracer/core/a.cc", '#include "daemon/abi/../agent/agent.h"\n', "relative or absolute"),
    *[("check_includes", "diagnosis/model/a.cc", f"#include <{h}>\n", f"must not use {h}")
      for h in ("chrono", "ctime", "cstdio", "future", "condition_variable", "fstream", "atomic", "unistd.h")],
    *[("check_includes", "diagnosis/model/a.cc", f'#include "{h}"\n', f"must not use {h}")
      for h in ("absl/time/clock.h", "absl/synchronization/mutex.h")],
    ("check_includes", "diagnosis/model/a.cc", "#include <vector>\n", None),
    ("check_includes", "diagnosis/model/a.cc", '#include "diagnosis/slowness/rules/arrival.h"\n', "higher layer"),
    ("check_includes", "diagnosis/graph/a.cc", '#include "diagnosis/engine/watch.h"\n', "higher layer"),
    ("check_includes", "diagnosis/engine/a.cc", '#include "diagnosis/graph/timeline.h"\n', None),
    ("check_includes", "diagnosis/nowhere/a.cc", "int x;\n", "in no layer"),
    ("check_includes", "collector/verdict/a.cc", '#include "collector/cli/text/text.h"\n', "higher layer"),
    ("check_includes", "collector/ingest/a.cc", '#include "collector/cordon/actuator.h"\n', "higher layer"),
    ("check_includes", "collector/http/a.cc", '#include "collector/api/api.h"\n', "higher layer"),
    ("check_includes", "collector/simulate/play/a.cc", '#include "collector/cli/verb.h"\n', "must not include"),
    ("check_includes", "collector/api/a.cc", TWO_FILES["a.cc"], "does not name",
     {"collector/api/b.cc": TWO_FILES["b.cc"], "collector/api/a.h": "class Thing {\n};\n"}),
    ("check_includes", "collector/api/a.cc", TWO_FILES["a.cc"], None,
     {"collector/api/b.cc": TWO_FILES["b.cc"], "collector/api/a.h": "// a.cc and b.cc\nclass Thing {\n};\n"}),
    ("check_includes", "collector/api/a.cc", "int x;\n", "at most 25",
     {f"collector/api/a{i}.cc": "int x;\n" for i in range(25)}),
    ("check_includes", "daemon/service/a.h", '#include "daemon/service/x/b.h"\n', "circle of folders",
     {"daemon/service/x/b.h": '#include "daemon/service/a.h"\n'}),
    ("check_includes", "daemon/agent/a.cc", '#include "daemon/tracer/x.h"\n', "must not include"),
    ("check_includes", "diagnosis/model/a.cc", '#include "fathom/v1/report.pb.h"\n', "must not include"),
    ("check_includes", "diagnosis/model/a.cc", "#include <thread>\n", "must not use"),
    ("check_includes", "collector/api/a.cc", '#include "daemon/agent/x.h"\n', "must not include"),
    ("check_includes", "tests/fakes/nccl/a.cc", '#include "daemon/abi/x.h"\n', "must not include daemon/abi"),
    ("check_includes", "tests/fakes/a.cc", '#include "daemon/abi/x.h"\n', None),
    ("check_style", "proto/types/a.h", CLEAN_HEADER, None),
    ("check_style", "proto/types/a.h", "#pragma once\n", "include guard"),
    ("check_style", "proto/types/a.cc", "int x;\n" * 501, "501 lines"),
    ("check_style", "daemon/util/a.md", "text\n", "without a subject"),
    ("check_style", "extra/a.md", "text\n", "top-level"),
    ("check_style", "docs/a.md", "see /ro" + "ot/x\n", "path of one machine"),
    ("check_threads", "collector/api/a.cc", GUARDED % (LOCKED, HELD, BY), None),
    ("check_threads", "collector/api/a.cc", GUARDED % ("return count_;", HELD, BY),
     "collector/api/a.cc:4: reading variable 'count_' requires holding mutex 'mutex_'"),
    ("check_threads", "collector/api/a.cc", GUARDED % ("return Taken();", HELD, BY),
     "collector/api/a.cc:4: calling function 'Taken' requires holding mutex 'mutex_'"),
    ("check_threads", "collector/api/a.cc", GUARDED % (LOCKED, "", BY),
     "collector/api/a.cc:7: reading variable 'count_' requires holding mutex 'mutex_'"),
    ("check_threads", "collector/api/a.cc", GUARDED % (LOCKED, HELD, ""), "nothing is ABSL_GUARDED_BY(mutex_)"),
    ("check_threads", "daemon/agent/a.cc", '#include "daemon/agent/a.h"\nint Peek(Counter& c) { return c.Get(); }\n',
     "daemon/agent/a.h:4: reading variable 'count_'", {"daemon/agent/a.h": GUARDED % ("return count_;", HELD, BY)}),
    ("check_threads", "collector/api/a.cc", CLASH + GUARDED % ("return count_;", HELD, BY), "collector/api/a.cc:5: reading",
     {"collector/api/b.cc": CLASH + f'#include "{LOCKS}"\n using fathom::service::MutexLock;\n'}),
    ("check_threads", "collector/api/a.cc", GUARDED % ("return absent_;", HELD, BY), "undeclared identifier"),
    ("check_threads", "daemon/service/a.h", "std::mutex mutex_;\n", "std::mutex, of which the analysis sees nothing"),
    ("check_threads", "collector/api/a.cc", "absl::MutexLock lock(&mutex);\n", "absl::MutexLock, of which"),
]


def run(scripts, script, files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        for file, text in files.items():
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(text)
        done = subprocess.run([f"{scripts}/{script}", folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def main(scripts, only=None):
    locks = {LOCKS: (pathlib.Path(scripts).parents[1] / LOCKS).read_text()}
    cases = [case for case in CASES if (case[0] == "check_threads") == (only == "check_threads")]
    bad = 0
    for script, file, text, expected, *more in cases:
        code, output = run(scripts, script, {**(locks if only else {}), file: text, **(more[0] if more else {})})
        if code == 77:
            print(output)
            return code
        right = code == 0 if expected is None else code == 1 and expected in output
        if not right:
            print(f"{script} on {file}: expected {expected!r}, got {code} {output!r}")
            bad += 1
    print(f"{len(cases) - bad} of {len(cases)} right")
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
