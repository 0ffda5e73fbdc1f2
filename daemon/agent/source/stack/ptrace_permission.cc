#include "daemon/agent/source/stack/ptrace_permission.h"

#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"

namespace fathom::agent {
namespace {

constexpr std::uint64_t kSysPtrace = 1u << 19;  // bit of CAP_SYS_PTRACE
constexpr std::uint64_t kFilter = 2;            // Seccomp: of /proc/PID/status
constexpr char kSeccomp[] =
    "a seccomp filter of the agent's container may refuse it: let its profile allow ptrace and "
    "process_vm_readv";

struct Status {
  std::optional<std::uint64_t> user;
  bool may_trace = false;
  bool filtered = false;
};

Status Read(const std::string& path) {
  Status out;
  const auto text = ReadSmallFile(path);
  if (!text.ok()) return out;
  out.user = NumberAfter(*text, "Uid");
  out.filtered = NumberAfter(*text, "Seccomp").value_or(0) == kFilter;
  const std::size_t at = text->find("\nCapEff:");
  if (at != std::string::npos) {
    const std::uint64_t caps = std::strtoull(text->c_str() + at + 8, nullptr, 16);
    out.may_trace = (caps & kSysPtrace) != 0;
  }
  return out;
}

int YamaScope(const KernelRoots& roots) {
  const auto text = ReadSmallFile(roots.proc + "/sys/kernel/yama/ptrace_scope");
  return text.ok() ? std::atoi(text->c_str()) : 0;
}

std::string Reason(int scope, const Status& self, const Status& target) {
  if (scope >= 3) {
    return "kernel.yama.ptrace_scope is 3: nobody may, until the next boot with a lower one "
           "(/etc/sysctl.d); CAP_SYS_PTRACE does not help";
  }
  if (self.may_trace) {
    return self.filtered ? kSeccomp
                         : "the agent has CAP_SYS_PTRACE, but it counts only in its own user "
                           "namespace: run the agent in that of the process, or outside of both";
  }
  if (self.user && target.user && *self.user != *target.user) {
    return absl::StrCat("the process belongs to user ", *target.user, ", the agent runs as ",
                        *self.user, ": run the agent as the job's user",
                        scope > 0 ? " with kernel.yama.ptrace_scope 0" : "",
                        ", or give it CAP_SYS_PTRACE");
  }
  if (scope > 0) {
    return absl::StrCat("kernel.yama.ptrace_scope is ", scope,
                        scope == 1 ? " (descendants only)" : " (CAP_SYS_PTRACE only)",
                        ": set it to 0, or give the agent CAP_SYS_PTRACE");
  }
  if (self.filtered) return kSeccomp;
  return "the process is not dumpable (it changed its user, or asked for it): give the agent "
         "CAP_SYS_PTRACE";
}

}  // namespace

std::string ExplainRefusal(const KernelRoots& roots, std::uint32_t pid) {
  const Status self = Read(roots.proc + "/self/status");
  const Status target = Read(absl::StrCat(roots.proc, "/", pid, "/status"));
  return absl::StrCat("not permitted: ", Reason(YamaScope(roots), self, target));
}

}  // namespace fathom::agent
