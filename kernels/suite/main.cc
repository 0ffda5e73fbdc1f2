// fathom-probe: measures this node and prints a line of JSON for the machine and for each probe.
//
// Started by `fathom probe`, by fathomd on an order, and by hand. It has nothing but libc, so that
// it runs in a prolog and in an init container. Exit code: 0 all were done, 2 one was faulty or had
// to be killed, 1 usage, or stopped by SIGTERM or SIGINT.
#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/measure/machine.h"
#include "kernels/network/pair.h"
#include "kernels/suite/child_run.h"
#include "kernels/suite/gpu_program.h"
#include "kernels/suite/probe_program.h"
#include "kernels/suite/result_line.h"
#include "kernels/suite/suite.h"

namespace {

using namespace fathom::kernels;

constexpr char kHelp[] =
    "fathom-probe: measures this node; a line of JSON for each probe\n"
    "  --full               the long set [the fast one, under 20 s]\n"
    "  --probes A,B         only these\n"
    "  --seconds S          the time of all probes together [by the set]\n"
    "  --memory-mib N       the memory that a probe may take [512, of a GPU's 2048]\n"
    "  --folder DIR         the disk that is probed [/tmp]\n"
    "  --gpu                GPUs too, though no driver is seen [where there is one]\n"
    "  --no-gpu             no GPUs\n"
    "  --gpu-program FILE   what measures them [fathom-probe-cuda beside this one]\n"
    "  --serve-pair         wait for one peer that measures the network\n"
    "  --pair HOST:PORT     measure the network to it\n"
    "  --token T            what a pair agrees on\n"
    "  --listen HOST        the address that --serve-pair listens at [all]\n"
    "  --exit-zero          exit code 0 whatever was found\n"
    "  --with-parent        die with the process that started this one\n"
    "  --list               the probes, and what each measures\n";

constexpr double kHostMemoryMib = 512;

std::atomic<bool> stopped{false};

void OnSignal(int) { stopped.store(true, std::memory_order_relaxed); }

struct Request {
  bool full = false;
  bool list = false;
  bool serve = false;
  bool with_parent = false;
  bool exit_zero = false;
  bool gpu = HasGpuDriver();
  double seconds = 0;     // 0: by the set
  double memory_mib = 0;  // 0: by where it is
  std::string probes, folder = "/tmp", pair, token, listen;
  std::string gpu_program = GpuProgram(), gpu_probes;
};

enum Option {
  kFull = 256,
  kProbes,
  kSeconds,
  kMemory,
  kFolder,
  kServe,
  kPair,
  kToken,
  kListen,
  kParent,
  kExitZero,
  kGpu,
  kNoGpu,
  kGpuProgram,
  kList,
  kHelpWanted
};

bool Take(int option, Request& request) {
  switch (option) {
    case kFull:
      return request.full = true;
    case kProbes:
      request.probes = optarg;
      return true;
    case kSeconds:
      return ReadNumber(optarg, 3600, request.seconds);
    case kMemory:
      return ReadNumber(optarg, 1 << 20, request.memory_mib);
    case kFolder:
      request.folder = optarg;
      return true;
    case kServe:
      return request.serve = true;
    case kPair:
      request.pair = optarg;
      return true;
    case kToken:
      request.token = optarg;
      return true;
    case kListen:
      request.listen = optarg;
      return true;
    case kExitZero:
      return request.exit_zero = true;
    case kParent:
      return request.with_parent = true;
    case kList:
      return request.list = true;
    case kGpu:
      return request.gpu = true;
    case kNoGpu:
      return !(request.gpu = false);
    case kGpuProgram:
      request.gpu_program = optarg;
      return true;
    default:
      return false;
  }
}

bool Parse(int argc, char** argv, Request& request) {
  static const option kOptions[] = {{"full", no_argument, nullptr, kFull},
                                    {"probes", required_argument, nullptr, kProbes},
                                    {"seconds", required_argument, nullptr, kSeconds},
                                    {"memory-mib", required_argument, nullptr, kMemory},
                                    {"folder", required_argument, nullptr, kFolder},
                                    {"serve-pair", no_argument, nullptr, kServe},
                                    {"pair", required_argument, nullptr, kPair},
                                    {"token", required_argument, nullptr, kToken},
                                    {"listen", required_argument, nullptr, kListen},
                                    {"exit-zero", no_argument, nullptr, kExitZero},
                                    {"with-parent", no_argument, nullptr, kParent},
                                    {"gpu", no_argument, nullptr, kGpu},
                                    {"no-gpu", no_argument, nullptr, kNoGpu},
                                    {"gpu-program", required_argument, nullptr, kGpuProgram},
                                    {"list", no_argument, nullptr, kList},
                                    {nullptr, 0, nullptr, 0}};
  for (int option; (option = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    if (!Take(option, request)) return false;
  }
  return optind == argc;
}

// Those of GPUs are known to the program that measures them.
bool Chosen(Request& request, std::vector<const ProbeKind*>& chosen) {
  if (request.probes.empty()) {
    for (const ProbeKind& kind : NodeProbes()) chosen.push_back(&kind);
    return true;
  }
  std::istringstream names(request.probes);
  for (std::string name; std::getline(names, name, ',');) {
    if (name.compare(0, 4, "gpu_") == 0) {
      request.gpu_probes += (request.gpu_probes.empty() ? "" : ",") + name;
      continue;
    }
    chosen.push_back(FindProbe(name));
    if (chosen.back() != nullptr) continue;
    std::fprintf(stderr, "fathom-probe: there is no probe '%s'; see --list\n", name.c_str());
    return false;
  }
  request.gpu = !request.gpu_probes.empty();
  return !chosen.empty() || request.gpu;
}

// Never more than a quarter of what is free: a probe must not push anybody out of memory.
Bounds BoundsOf(const Request& request, const Machine& machine) {
  Bounds bounds;
  bounds.cpus = machine.cpus;
  bounds.numa = machine.numa;
  bounds.folder = request.folder;
  const double memory_mib = request.memory_mib > 0 ? request.memory_mib : kHostMemoryMib;
  bounds.bytes = static_cast<std::size_t>(memory_mib * 1048576);
  if (machine.available_bytes > 0) {
    bounds.bytes = std::min<std::size_t>(bounds.bytes, machine.available_bytes / 4);
  }
  return bounds;
}

int RunGpus(const Request& request, double factor) {
  GpuRequest gpu{.full = request.full, .probes = request.gpu_probes};
  if (request.memory_mib > 0) gpu.memory_mib = request.memory_mib;
  if (request.seconds > 0) gpu.seconds = factor * (gpu.full ? kGpuFullSeconds : kGpuFastSeconds);
  return RunGpuProgram(request.gpu_program, gpu, stopped);
}

int RunProbes(const Request& request, const std::vector<const ProbeKind*>& chosen) {
  const Machine machine = ThisMachine();
  PrintLine(LineOf(machine));
  double planned = 0;
  for (const ProbeKind* kind : chosen) planned += request.full ? kind->full_s : kind->fast_s;
  if (request.gpu) planned += request.full ? kGpuFullSeconds : kGpuFastSeconds;
  const double factor = request.seconds > 0 ? request.seconds / planned : 1;
  int code = 0;
  for (const ProbeKind* kind : chosen) {
    if (stopped) return 1;
    Bounds bounds = BoundsOf(request, machine);
    bounds.seconds = factor * (request.full ? kind->full_s : kind->fast_s);
    // What is set up before the time counts (touching memory, reference results) is patient too.
    const double patience = 3 * bounds.seconds + 10;
    const ChildEnd end = RunInChild(
        kind->name, [&] { return kind->run(bounds); }, patience, stopped);
    PrintLine(end.line);
    code = Worse(code, end.outcome);
  }
  const int gpus = request.gpu && !stopped ? RunGpus(request, factor) : 0;
  return gpus == 1 || gpus == 2 ? gpus : code;
}

int RunPair(const Request& request) {
  Bounds bounds = BoundsOf(request, ThisMachine());
  bounds.seconds = request.seconds > 0 ? request.seconds : 3;
  bounds.stop = &stopped;
  PairAddress server;
  ProbeResult result;
  if (request.serve) {
    result = ServePair(bounds, request.listen, request.token,
                       [](std::uint16_t port) { PrintLine(ListeningLine(port)); });
  } else if (ParsePairAddress(request.pair, server)) {
    result = MeasurePair(bounds, server, request.token);
  } else {
    std::fprintf(stderr, "fathom-probe: --pair wants HOST:PORT, not '%s'\n", request.pair.c_str());
    return 1;
  }
  result.probe = request.serve ? "pair_server" : "pair";
  PrintLine(LineOf(result));
  return Worse(0, result.outcome);
}

int ListProbes() {
  for (const ProbeKind& kind : NodeProbes()) {
    std::printf("%-18s %4.1f s, full %3.0f s  %s\n", kind.name.c_str(), kind.fast_s, kind.full_s,
                kind.measures.c_str());
  }
  std::printf("gpu_…                        fathom-probe-cuda --list names those of GPUs\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  std::vector<const ProbeKind*> chosen;
  if (!Parse(argc, argv, request)) {
    std::fputs(kHelp, stderr);
    return 1;
  }
  if (request.list) return ListProbes();
  if (!Chosen(request, chosen)) return 1;
  StopBySignals(OnSignal, request.with_parent);
  const bool pair = request.serve || !request.pair.empty();
  const int code = pair ? RunPair(request) : RunProbes(request, chosen);
  return code == 2 && request.exit_zero ? 0 : code;
}
