#include "collector/cli/doctor/machine_checks.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

// A rank's ring takes a little over 1 MiB.
constexpr std::uint64_t kRingBytes = 5 << 18;
constexpr std::uint64_t kRingsOfABigNode = 16;

std::string FirstWord(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

}  // namespace

Finding CheckSharedMemory(const fs::path& root) {
  Finding out{.name = "shared memory", .required = true};
  const fs::path folder = root / "dev/shm";
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0 || access(folder.c_str(), W_OK | X_OK) != 0) {
    out.state = "off";
    out.why = Cat(folder.string(), " is not there or not ours to write");
    out.hides = "everything: records go through it";
    out.todo = "mount a tmpfs there (in a container: --shm-size=256m)";
    return out;
  }
  const std::uint64_t free_bytes = info.f_bavail * info.f_frsize;
  const bool enough = free_bytes >= kRingsOfABigNode * kRingBytes;
  out.state = enough ? "ok" : "partly";
  out.why = Cat(free_bytes >> 20, " MiB free, room for ", free_bytes / kRingBytes, " ranks");
  if (!enough) {
    out.hides = "ranks whose ring finds no room";
    out.todo = "enlarge it (in a container: --shm-size=256m)";
  }
  return out;
}

Finding CheckClock(const fs::path& root) {
  Finding out{.name = "clock"};
  const std::string source =
      FirstWord(root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  const bool slow =
      source == "hpet" || source == "acpi_pm" || source == "jiffies" || source == "refined-jiffies";
  out.state = source.empty() || slow ? "partly" : "ok";
  out.why = source.empty() ? "the kernel does not say which" : source;
  if (slow) {
    out.why += ": every time stamp is a system call";
    out.hides = "nothing, but a record then costs about 1 us";
    out.todo = "boot with a stable TSC, or use kvm-clock";
  }
  return out;
}

Finding CheckPtrace(const fs::path& root) {
  Finding out{.name = "ptrace scope"};
  const std::string scope = FirstWord(root / "proc/sys/kernel/yama/ptrace_scope");
  const bool open = scope.empty() || scope == "0" || geteuid() == 0;
  out.state = open && scope != "3" ? "ok" : "partly";
  out.why = scope.empty() ? "no Yama: own processes may be inspected" : Cat("ptrace_scope ", scope);
  if (out.state != "ok") {
    out.hides = "stacks of hung ranks";
    out.todo = scope == "3" ? "boot with a lower kernel.yama.ptrace_scope: 3 cannot be undone"
                            : "sysctl kernel.yama.ptrace_scope=0, or run the agent as root";
  }
  return out;
}

Finding CheckPerfEvents(const fs::path& root) {
  Finding out{.name = "perf events"};
  const std::string level = FirstWord(root / "proc/sys/kernel/perf_event_paranoid");
  int number = 4;
  const bool known = ReadNumber(level, &number);
  out.state = known && (number <= 2 || geteuid() == 0) ? "ok" : "partly";
  out.why = known ? Cat("perf_event_paranoid ", number) : "not in this kernel or container";
  if (out.state != "ok") {
    out.hides = "CPU profiles of ranks (not part of this version)";
    out.todo = "sysctl kernel.perf_event_paranoid=2";
  }
  return out;
}

Finding CheckGpu(const fs::path& root) {
  Finding out{.name = "CUDA, NCCL", .state = "off"};
  std::error_code ignored;
  const bool device =
      fs::exists(root / "dev/nvidia0", ignored) || fs::exists(root / "dev/nvidiactl", ignored);
  out.why = device ? "a GPU is here" : "no GPU here";
  if (device) {
    out.state = "ok";
  } else {
    out.hides = "kernels, GPU times, NCCL collectives";
  }
  return out;
}

}  // namespace fathom::cli
