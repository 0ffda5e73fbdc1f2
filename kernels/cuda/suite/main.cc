// fathom-probe-cuda: measures this node's GPUs and prints a line of JSON for each GPU and each
// probe.
//
// Started by fathom-probe where it lies beside it, and by hand. It has nothing but libc and CUDA's
// runtime, which is linked in; cuBLASLt is opened by name. Exit code: 0 all were done, 2 one was
// faulty or had to be killed, 1 usage, or stopped by SIGTERM or SIGINT, 77 no GPU that CUDA can
// use.
#include <getopt.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cuda/device/gpu.h"
#include "kernels/cuda/suite/gpu_line.h"
#include "kernels/cuda/suite/gpu_suite.h"
#include "kernels/suite/child_run.h"
#include "kernels/suite/probe_program.h"
#include "kernels/suite/result_line.h"

namespace {

using namespace fathom::kernels;

constexpr int kNoGpu = 77;
constexpr char kHelp[] =
    "fathom-probe-cuda: measures this node's GPUs; a line of JSON for each probe\n"
    "  --full               the long set [the fast one, under 30 s]\n"
    "  --probes A,B         only these\n"
    "  --gpus 0,1           only these, as CUDA counts them [all]\n"
    "  --seconds S          the time of all probes together [by the set]\n"
    "  --memory-mib N       of each GPU's memory [2048]\n"
    "  --flip               flip a bit of each result before it is checked: all must be faulty\n"
    "  --exit-zero          exit code 0 whatever was found\n"
    "  --with-parent        die with the process that started this one\n"
    "  --list               the probes, and what each measures\n";

std::atomic<bool> stopped{false};

void OnSignal(int) { stopped.store(true, std::memory_order_relaxed); }

struct Request {
  bool full = false, list = false, flip = false, with_parent = false, exit_zero = false;
  double seconds = 0;  // 0: by the set
  double memory_mib = 2048;
  std::string probes, gpus;
};

bool Take(int option, Request& request) {
  switch (option) {
    case 'F':
      return request.full = true;
    case 'p':
      request.probes = optarg;
      return true;
    case 'g':
      request.gpus = optarg;
      return true;
    case 's':
      return ReadNumber(optarg, 3600, request.seconds);
    case 'm':
      return ReadNumber(optarg, 1 << 20, request.memory_mib);
    case 'f':
      return request.flip = true;
    case 'z':
      return request.exit_zero = true;
    case 'w':
      return request.with_parent = true;
    case 'l':
      return request.list = true;
    default:
      return false;
  }
}

bool Parse(int argc, char** argv, Request& request) {
  static const option kOptions[] = {{"full", no_argument, nullptr, 'F'},
                                    {"probes", required_argument, nullptr, 'p'},
                                    {"gpus", required_argument, nullptr, 'g'},
                                    {"seconds", required_argument, nullptr, 's'},
                                    {"memory-mib", required_argument, nullptr, 'm'},
                                    {"flip", no_argument, nullptr, 'f'},
                                    {"exit-zero", no_argument, nullptr, 'z'},
                                    {"with-parent", no_argument, nullptr, 'w'},
                                    {"list", no_argument, nullptr, 'l'},
                                    {nullptr, 0, nullptr, 0}};
  for (int option; (option = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    if (!Take(option, request)) return false;
  }
  return optind == argc;
}

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

bool Chosen(const Request& request, std::vector<const GpuProbeKind*>& chosen) {
  const std::vector<std::string> wanted = Split(request.probes);
  for (const GpuProbeKind& kind : GpuProbes()) {
    if (wanted.empty() || std::count(wanted.begin(), wanted.end(), kind.name) > 0) {
      chosen.push_back(&kind);
    }
  }
  if (wanted.empty() || chosen.size() == wanted.size()) return true;
  std::fprintf(stderr, "fathom-probe-cuda: one of '%s' is no probe; see --list\n",
               request.probes.c_str());
  return false;
}

// Asked in a process of its own: one that has opened CUDA cannot hand it on to its children.
int ListGpus() {
  std::string why;
  const std::vector<Gpu> gpus = Gpus(why);
  for (const Gpu& gpu : gpus) PrintLine(LineOf(gpu));
  if (gpus.empty()) PrintLine(NoGpuLine(why));
  return gpus.empty() ? kNoGpu : 0;
}

ProbeResult RunProbe(const GpuProbeKind& kind, const Request& request, GpuBounds bounds) {
  std::string why;
  const std::vector<std::string> wanted = Split(request.gpus);
  for (const Gpu& gpu : Gpus(why)) {
    const std::string index = std::to_string(gpu.index);
    if (wanted.empty() || std::count(wanted.begin(), wanted.end(), index) > 0) {
      bounds.gpus.push_back(gpu);
    }
  }
  if (bounds.gpus.empty()) {
    return {.outcome = Outcome::kSkipped, .reason = why.empty() ? "no such GPU" : why};
  }
  return kind.run(bounds);
}

int RunProbes(const Request& request, const std::vector<const GpuProbeKind*>& chosen) {
  double planned = 0;
  for (const GpuProbeKind* kind : chosen) planned += request.full ? kind->full_s : kind->fast_s;
  const double factor = request.seconds > 0 ? request.seconds / planned : 1;
  int code = 0;
  for (const GpuProbeKind* kind : chosen) {
    if (stopped) return 1;
    GpuBounds bounds;
    bounds.seconds = factor * (request.full ? kind->full_s : kind->fast_s);
    bounds.bytes = static_cast<std::size_t>(request.memory_mib * 1048576);
    bounds.flip = request.flip;
    // Opening CUDA takes seconds on a node with many GPUs; the host's references take a second.
    const double patience = 3 * bounds.seconds + 20;
    const ChildEnd end = RunInChild(
        kind->name, [&] { return RunProbe(*kind, request, bounds); }, patience, stopped);
    PrintLine(end.line);
    code = Worse(code, end.outcome);
  }
  return code;
}

int ListProbes() {
  for (const GpuProbeKind& kind : GpuProbes()) {
    std::printf("%-21s %4.1f s, full %3.0f s  %s\n", kind.name.c_str(), kind.fast_s, kind.full_s,
                kind.measures.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  std::vector<const GpuProbeKind*> chosen;
  if (!Parse(argc, argv, request)) {
    std::fputs(kHelp, stderr);
    return 1;
  }
  if (request.list) return ListProbes();
  if (!Chosen(request, chosen)) return 1;
  StopBySignals(OnSignal, request.with_parent);
  const int listed = RunApart(ListGpus);
  if (listed != 0) return listed == kNoGpu && request.exit_zero ? 0 : listed;
  const int code = RunProbes(request, chosen);
  return code == 2 && request.exit_zero ? 0 : code;
}
