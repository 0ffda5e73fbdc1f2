#include "collector/cli/remedy/backend/launcher_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>

#include "collector/cli/process/trace_environment.h"
#include "collector/cli/remedy/backend/process_files.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kEndLook{50};
constexpr std::chrono::milliseconds kTagLook{1};
constexpr std::chrono::seconds kTagSeen{5};
constexpr int kMostAncestors = 64;
constexpr int kDefaultPort = 29400;  // of c10d

bool RunsTorchrun(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < std::min<std::size_t>(words.size(), 8); ++i) {
    if (fs::path(words[i]).filename() == "torchrun" || words[i] == "torch.distributed.run" ||
        words[i].ends_with("torch/distributed/run.py"))
      return true;
  }
  return false;
}

// --rdzv-endpoint VALUE, --rdzv_endpoint=VALUE, or PET_RDZV_ENDPOINT.
std::string OptionOf(const ProcessFiles& process, const std::string& name) {
  const std::vector<std::string> words = process.Words();
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i].substr(0, words[i].find('='));
    std::replace(word.begin(), word.end(), '_', '-');
    if (word != "--" + name) continue;
    if (words[i].size() > word.size()) return words[i].substr(word.size() + 1);
    return i + 1 < words.size() ? words[i + 1] : "";
  }
  std::string variable = "PET_" + name;
  for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return process.Variable(variable);
}

int RendezvousPort(const std::string& endpoint) {
  int port = kDefaultPort;
  const std::size_t colon = endpoint.rfind(':');
  if (colon != endpoint.npos) ReadNumber(std::string_view(endpoint).substr(colon + 1), &port);
  return port;
}

// It and all that descend from it.
std::set<std::int64_t> Family(const fs::path& proc, std::int64_t pid) {
  std::set<std::int64_t> family = {pid};
  for (std::size_t before = 0; before != family.size();) {
    before = family.size();
    for (const std::int64_t each : AllProcesses(proc)) {
      if (family.contains(ProcessFiles(proc, each).Age().parent)) family.insert(each);
    }
  }
  return family;
}

std::vector<Launcher> FamilyOf(const fs::path& proc, const Launcher& launcher) {
  std::vector<Launcher> family;
  for (const std::int64_t pid : Family(proc, launcher.pid)) {
    family.push_back({pid, ProcessFiles(proc, pid).Age().start});
  }
  return family;
}

bool GoneWithin(const fs::path& proc, const std::vector<Launcher>& all,
                std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  const auto there = [&](const Launcher& each) { return StillThere(proc, each); };
  while (std::any_of(all.begin(), all.end(), there)) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(kEndLook);
  }
  return true;
}

// 0 or an errno.
int Spawn(const std::vector<std::string>& argv, const std::string& tag, const std::string& log,
          pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  Environment environment = CurrentEnvironment();
  std::erase_if(environment,
                [](const std::string& each) { return each.starts_with(kRecoveryTag); });
  environment.push_back(Cat(kRecoveryTag, "=", tag));
  std::vector<char*> words, variables;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& each : environment) variables.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  variables.push_back(nullptr);
  const int error =
      posix_spawnp(pid, words[0], &actions, &attributes, words.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// A spawn returns before the kernel has put the new environment in place; until then nobody would
// find the launcher by its tag, and a second one would be started.
void AwaitTag(const fs::path& proc, pid_t pid, const std::string& tag) {
  const auto until = std::chrono::steady_clock::now() + kTagSeen;
  const ProcessFiles process(proc, pid);
  while (process.Variable(kRecoveryTag) != tag && process.Age().start != 0 &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kTagLook);
  }
}

}  // namespace

absl::StatusOr<Launcher> LauncherOf(const fs::path& proc, std::int64_t rank_pid) {
  std::int64_t pid = rank_pid;
  for (int up = 0; pid > 1 && up < kMostAncestors; ++up) {
    const ProcessFiles process(proc, pid);
    const ProcessAge age = process.Age();
    if (age.start == 0) break;
    if (RunsTorchrun(process.Words())) return Launcher{pid, age.start};
    pid = age.parent;
  }
  return absl::NotFoundError(Cat("process ", rank_pid, " has no torchrun above it"));
}

absl::StatusOr<Launcher> LauncherTagged(const fs::path& proc, const std::string& tag) {
  for (const std::int64_t pid : AllProcesses(proc)) {
    const ProcessFiles process(proc, pid);
    if (process.Variable(kRecoveryTag) != tag) continue;
    const ProcessAge age = process.Age();
    const bool topmost = ProcessFiles(proc, age.parent).Variable(kRecoveryTag) != tag;
    if (age.start != 0 && topmost) return Launcher{pid, age.start};
  }
  return absl::NotFoundError(Cat("nothing runs that was started as ", tag));
}

bool StillThere(const fs::path& proc, const Launcher& launcher) {
  return launcher.start != 0 && ProcessFiles(proc, launcher.pid).Age().start == launcher.start;
}

Json TellLauncher(const fs::path& proc, const Launcher& launcher) {
  const ProcessFiles process(proc, launcher.pid);
  const std::string endpoint = OptionOf(process, "rdzv-endpoint");
  const int port = RendezvousPort(endpoint);
  int restarts = 0;
  ReadNumber(OptionOf(process, "max-restarts"), &restarts);
  bool hosts = false, reached = false;
  for (const std::int64_t pid : Family(proc, launcher.pid)) {
    for (const SocketEnd& end : ProcessFiles(proc, pid).Sockets()) {
      hosts = hosts || (end.listens && end.local_port == port);
      reached = reached || (end.established && end.remote_port == port);
    }
  }
  return {{"pid", launcher.pid},
          {"start", launcher.start},
          {"job", process.Variable("FATHOM_JOB")},
          {"nnodes", OptionOf(process, "nnodes")},
          {"max_restarts", restarts},
          {"rdzv_backend", OptionOf(process, "rdzv-backend")},
          {"rdzv_endpoint", endpoint},
          {"shares_store", process.Variable("TORCH_DISABLE_SHARE_RDZV_TCP_STORE") != "1"},
          {"hosts_rendezvous", hosts},
          {"reached_rendezvous", reached}};
}

absl::Status StopLauncher(const fs::path& proc, const Launcher& launcher,
                          std::chrono::milliseconds grace) {
  if (!StillThere(proc, launcher)) return absl::OkStatus();
  std::vector<Launcher> family = FamilyOf(proc, launcher);
  kill(static_cast<pid_t>(launcher.pid), SIGTERM);
  if (!GoneWithin(proc, {launcher}, grace)) {
    const std::vector<Launcher> now = FamilyOf(proc, launcher);
    family.insert(family.end(), now.begin(), now.end());
  }
  // Whoever is left carries the tag, and would be taken for a launcher that runs.
  for (const Launcher& each : family) {
    if (StillThere(proc, each)) kill(static_cast<pid_t>(each.pid), SIGKILL);
  }
  if (GoneWithin(proc, family, std::chrono::seconds(5))) return absl::OkStatus();
  return absl::DeadlineExceededError(Cat("process ", launcher.pid, " does not end"));
}

absl::StatusOr<Launcher> StartLauncher(const fs::path& proc, const std::string& tag,
                                       const std::string& log,
                                       const std::vector<std::string>& argv) {
  const auto there = LauncherTagged(proc, tag);
  if (there.ok()) return there;
  pid_t pid = 0;
  if (const int error = Spawn(argv, tag, log, &pid); error != 0)
    return absl::FailedPreconditionError(Cat(argv[0], ": ", std::strerror(error)));
  AwaitTag(proc, pid, tag);
  const ProcessAge age = ProcessFiles(proc, pid).Age();
  if (age.start == 0) return absl::FailedPreconditionError(Cat(argv[0], " ended at once: ", log));
  return Launcher{pid, age.start};
}

}  // namespace fathom::cli
