#include "collector/cli/doctor/python_checks.h"

#include <gnu/libc-version.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "collector/cli/doctor/captured_process.h"
#include "collector/cli/doctor/elf_file.h"
#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kPythonTimeout{15000};

// torch/version.py is run alone: importing torch takes seconds.
constexpr const char* kQuestion = R"py(
import importlib.util, json, os, runpy, sys
out = {"executable": os.path.realpath(sys.executable), "version": sys.version.split()[0]}
try:
    spec = importlib.util.find_spec("torch")
except Exception:
    spec = None
if spec and spec.submodule_search_locations:
    out["folder"] = list(spec.submodule_search_locations)[0]
    try:
        out["torch"] = str(runpy.run_path(os.path.join(out["folder"], "version.py"))["__version__"])
    except Exception:
        out["torch"] = "unknown"
print(json.dumps(out))
)py";

std::set<std::string> Missing(const std::set<std::string>& wanted,
                              const std::set<std::string>& found) {
  std::set<std::string> out;
  std::set_difference(wanted.begin(), wanted.end(), found.begin(), found.end(),
                      std::inserter(out, out.end()));
  return out;
}

Finding GlooOff(std::string why, std::string todo) {
  return {.name = "Gloo in PyTorch",
          .state = "off",
          .why = std::move(why),
          .hides = "collectives of CPU jobs and control groups",
          .todo = std::move(todo)};
}

Finding JudgeGloo(const std::string& library, const ElfFacts& elf) {
  if (elf.symbolic) {
    return GlooOff(Cat(library, " binds its own calls symbolically"),
                   "use the official PyTorch wheel");
  }
  const auto essential = Missing(EssentialGlooSymbols(), elf.defined);
  if (!essential.empty()) {
    return GlooOff(
        Cat(essential.size(), " functions cannot be interposed, first ", *essential.begin()),
        "use a PyTorch built with Gloo that exports its symbols (official wheels do)");
  }
  const auto point_to_point = Missing(PointToPointGlooSymbols(), elf.defined);
  Finding out{.name = "Gloo in PyTorch", .state = point_to_point.empty() ? "ok" : "partly"};
  out.why = "its functions can be interposed";
  if (!point_to_point.empty()) {
    out.why = Cat("collectives can be interposed, ", *point_to_point.begin(), " cannot");
    out.hides = "send and recv: pipeline jobs";
  }
  return out;
}

}  // namespace

const std::set<std::string>& EssentialGlooSymbols() {
  static const auto& names = *new std::set<std::string>{
      "_ZN4c10d16ProcessGroupGloo7nextTagEv",
      "_ZN4c10d16ProcessGroupGloo9AsyncWork7executeERKN3c1013intrusive_ptrIS1_NS2_"
      "6detail34intrusive_target_default_null_typeIS1_EEEE",
      "_ZN4c10d16ProcessGroupGloo9allreduceERSt6vectorIN2at6TensorESaIS3_EERKNS_"
      "16AllreduceOptionsE",
      "_ZN4c10d16ProcessGroupGlooC1ERKN3c1013intrusive_ptrINS_5StoreENS1_"
      "6detail34intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE"};
  return names;
}

const std::set<std::string>& PointToPointGlooSymbols() {
  static const auto& names = *new std::set<std::string>{
      "_ZN4c10d16ProcessGroupGloo4recvERSt6vectorIN2at6TensorESaIS3_EEii",
      "_ZN4c10d16ProcessGroupGloo4sendERSt6vectorIN2at6TensorESaIS3_EEii",
      "_ZN4c10d16ProcessGroupGloo8RecvWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE",
      "_ZN4c10d16ProcessGroupGloo8SendWork4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"};
  return names;
}

PythonFacts AskPython(const std::string& python) {
  PythonFacts out;
  const absl::StatusOr<Captured> run = Capture(
      {python, "-c", kQuestion}, CompanionEnvironment(CurrentEnvironment()), kPythonTimeout);
  if (!run.ok()) {
    out.error = Message(run.status());
    return out;
  }
  const Json answer = Json::parse(run->out, nullptr, /*allow_exceptions=*/false);
  out.executable = TextField(answer, "executable");
  out.version = TextField(answer, "version");
  out.torch_version = TextField(answer, "torch");
  out.torch_folder = TextField(answer, "folder");
  if (out.executable.empty()) out.error = "it gave no answer";
  return out;
}

Finding CheckPython(const PythonFacts& facts, const std::string& asked) {
  Finding out{.name = "Python, PyTorch"};
  if (facts.executable.empty()) {
    out.state = "off";
    out.why = Cat(asked, ": ", facts.error);
    out.todo = "name the job's Python with --python PATH";
  } else if (facts.torch_version.empty()) {
    out.state = "off";
    out.why = Cat("Python ", facts.version, " at ", facts.executable, " has no torch");
    out.todo = "name the job's Python with --python PATH, or activate its environment";
  } else {
    out.state = "ok";
    out.why =
        Cat("Python ", facts.version, ", torch ", facts.torch_version, " in ", facts.torch_folder);
  }
  if (out.state != "ok") out.hides = "whether the job's PyTorch can be traced";
  return out;
}

Finding CheckCLibrary(const PythonFacts& facts) {
  Finding out{.name = "C library", .state = "ok", .why = Cat("glibc ", gnu_get_libc_version())};
  if (facts.executable.empty()) return out;
  const absl::StatusOr<ElfFacts> elf = ReadElf(facts.executable, {});
  if (elf.ok() && elf->interpreter.find("musl") != std::string::npos) {
    out.state = "off";
    out.why = Cat(facts.executable, " is built for musl, the tracer for glibc");
    out.hides = "everything in this Python's processes";
    out.todo = "use a Python built for glibc (PyTorch's wheels need it too)";
  }
  return out;
}

Finding CheckGloo(const PythonFacts& facts) {
  if (facts.torch_folder.empty()) {
    return GlooOff("no torch to look at", "see the row on Python");
  }
  const std::string library = facts.torch_folder + "/lib/libtorch_cpu.so";
  std::set<std::string> wanted = EssentialGlooSymbols();
  wanted.insert(PointToPointGlooSymbols().begin(), PointToPointGlooSymbols().end());
  const absl::StatusOr<ElfFacts> elf = ReadElf(library, wanted);
  if (!elf.ok()) return GlooOff(Cat(library, ": ", Message(elf.status())), "");
  return JudgeGloo(library, *elf);
}

}  // namespace fathom::cli
