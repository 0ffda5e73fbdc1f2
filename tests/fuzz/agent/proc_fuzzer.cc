// Any bytes as a file of the kernel that the agent reads: of a process, of its cgroup, of the node,
// of its devices. The first line names the file below a made-up root, as "proc/42/stat"; the rest
// is what it holds. All other files are as a kernel writes them.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/agent/source/hardware/system_sources.h"
#include "daemon/agent/source/process/gpu_information.h"
#include "daemon/agent/source/process/library_versions.h"
#include "daemon/agent/source/process/node_facts.h"
#include "daemon/agent/source/process/process_facts.h"
#include "daemon/agent/source/process/process_files.h"
#include "daemon/agent/source/process/process_tree.h"
#include "daemon/agent/source/process/run_facts.h"
#include "daemon/agent/source/process/thread_sampler.h"
#include "daemon/agent/source/socket/tcp_sockets.h"
#include "daemon/agent/source/stack/stack_text.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

constexpr std::uint32_t kPid = 42;

const std::map<std::string, std::string, std::less<>>& Good() {
  static const std::map<std::string, std::string, std::less<>> files = {
      {"proc/42/stat",
       "42 (python) S 1 42 42 0 -1 4194304 900 0 3 0 12 5 0 0 20 0 8 0 1234 1000000 2000 "
       "18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"},
      {"proc/42/io", "rchar: 10\nwchar: 20\nread_bytes: 30\nwrite_bytes: 40\n"},
      {"proc/42/cgroup", "0::/job\n"},
      {"proc/42/task/42/stat", "42 (python) S 1 42 42 0 -1 0 0 0 0 0 1 1 0 0 20 0 8 0 1234 0 0\n"},
      {"proc/42/task/42/status", "State:\tS\nvoluntary_ctxt_switches:\t5\n"},
      {"proc/42/task/42/schedstat", "1000 2000 3\n"},
      {"proc/42/task/42/wchan", "futex_wait_queue"},
      {"proc/42/cmdline", std::string("python\0train.py\0--lr\0001", 22)},
      {"proc/42/environ", std::string("FATHOM_PROFILE=a\0TORCH_X=1", 26)},
      {"proc/42/maps", "7f00-7f10 r-xp 0 08:01 5 /a/torch/lib/libtorch_cpu.so\n"},
      {"proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"},
      {"proc/loadavg", "0.10 0.20 0.30 1/100 4711\n"},
      {"proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 500 kB\n"},
      {"proc/vmstat", "pgmajfault 5\noom_kill 0\n"},
      {"proc/diskstats", "8 0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"},
      {"proc/pressure/cpu", "some avg10=0.10 avg60=0.20 avg300=0.30 total=4\n"},
      {"proc/pressure/memory", "some avg10=0.10 avg60=0.20 avg300=0.30 total=4\n"},
      {"proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54\n"},
      {"proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: X\nGPU UUID: GPU-1\n"},
      {"cgroup/job/cpu.stat", "throttled_usec 5\n"},
      {"cgroup/job/cgroup.events", "frozen 0\n"},
      {"cgroup/job/memory.events", "oom_kill 1\n"},
      {"sys/class/net/eth0/device/vendor", "0x15b3\n"},
      {"sys/class/net/eth0/carrier_changes", "7\n"},
      {"sys/class/net/eth0/statistics/rx_errors", "3\n"},
      {"sys/block/sda/size", "1000\n"},
      {"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n"},
      {"sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"}};
  return files;
}

class Kernel {
 public:
  Kernel() {
    for (const auto& [path, text] : Good()) Put(path, text);
  }
  void Put(const std::string& path, std::string_view text) const {
    const std::filesystem::path file = folder_.path() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  KernelRoots roots() const {
    return {folder_.path() + "/proc", folder_.path() + "/cgroup", folder_.path() + "/sys"};
  }

 private:
  const fakes::RingFolder folder_;
};

void ReadProcess(const KernelRoots& roots) {
  (void)ReadLife(roots, kPid, 1234);
  if (const auto facts = ReadFacts(roots, kPid, kPid); facts.ok()) {
    (void)ReadOomKills(facts->cgroup);
  }
  (void)ReadIoBytes(roots, kPid);
  (void)ThreadSampler(roots, kPid).Read(kPid);
  (void)ProcessTree(roots).Below(1, {});
  (void)IsBelow(roots, kPid, {7});
  (void)SocketsOf(roots, kPid);
  const ProcessSetup setup = ReadProcessSetup(roots, kPid);
  if (setup.facts.size() > kMaxFacts) std::abort();
  for (const auto& [name, value] : setup.facts) {
    if (value.size() > kMaxFactBytes) std::abort();
  }
  (void)ReadLibraryVersions(roots, kPid);
  (void)ReadGpuUuid(roots, "0000:01:00.0");
}

void ReadNode(const KernelRoots& roots) {
  NodeFactsReader node(roots);
  (void)node.Read();
  (void)node.Read();
  std::int64_t now = 1'000'000'000;
  const auto clock = [&now] { return MonoNs(now += 1'000'000'000); };
  CallInProgress doing(clock);
  for (const auto& source : MakeSystemSources(roots, clock)) {
    std::vector<Reading> readings;
    (void)source->Sample(doing, readings);
    (void)source->Sample(doing, readings);
  }
}

}  // namespace
}  // namespace fathom::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::agent;  // NOLINT(google-build-using-namespace)
  static const Kernel kernel;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const auto end = all.find('\n');
  if (end == all.npos) return 0;
  const std::string_view text = all.substr(end + 1);
  if (all.substr(0, end) == "stack") {
    const auto frames = ParseStack(text, 42);
    if (frames.size() > kMaxFrames) std::abort();
    (void)LibraryFunction(frames);
    (void)ExplainStackError(text);
    return 0;
  }
  const auto file = Good().find(all.substr(0, end));
  if (file == Good().end()) return 0;
  kernel.Put(file->first, text);
  ReadProcess(kernel.roots());
  ReadNode(kernel.roots());
  kernel.Put(file->first, file->second);
  return 0;
}
