#include "collector/cli/doctor/fathom_checks.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "collector/cli/doctor/captured_process.h"
#include "collector/cli/run/served_folder.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kProbeTimeout{5000};

bool IsFree(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return free;
}

std::string FirstLine(const std::string& text) {
  return Printable(text.substr(0, std::min<std::size_t>(text.find('\n'), 200)));
}

Finding TracerOff(std::string why, std::string todo) {
  return {.name = "tracer",
          .state = "off",
          .why = std::move(why),
          .hides = "everything: no process is traced",
          .todo = std::move(todo),
          .required = true};
}

}  // namespace

int RunPreloadProbe() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/libfathom.so") != std::string::npos) return 0;
  }
  return 1;
}

Finding CheckTracer(const Installation& installation, const std::filesystem::path& probe) {
  if (installation.tracer.empty()) {
    return TracerOff(Cat("libfathom.so is not beside ", installation.folder.string()),
                     "build or install the target fathom_tracer");
  }
  const std::string path = installation.preload.string();
  absl::StatusOr<Environment> environment =
      TracedEnvironment({}, {path, "", "/nonexistent", "doctor", ""});
  if (!environment.ok()) return TracerOff(Message(environment.status()), "");
  absl::StatusOr<Captured> run =
      Capture({probe.string(), kPreloadProbe}, *environment, kProbeTimeout);
  if (!run.ok()) return TracerOff(Message(run.status()), "");
  if (run->exit_code != 0) {
    const std::string why = FirstLine(run->err);
    return TracerOff(why.empty() ? Cat(path, " was not loaded") : why,
                     "use the libfathom.so built for this machine and C library");
  }
  return {.name = "tracer", .state = "ok", .why = Cat(path, " loads"), .required = true};
}

Finding CheckPrograms(const Installation& installation) {
  std::string missing;
  if (installation.agent.empty()) missing += " fathomd";
  if (installation.collector.empty()) missing += " fathom-collector";
  if (missing.empty()) {
    return {.name = "agent, collector",
            .state = "ok",
            .why = Cat("both in ", installation.folder.string()),
            .required = true};
  }
  return {.name = "agent, collector",
          .state = "off",
          .why = Cat("not in ", installation.folder.string(), ":", missing),
          .hides = "everything `fathom run` shows",
          .todo = "build or install them beside fathom",
          .required = true};
}

Finding CheckPythonHook(const Installation& installation) {
  std::error_code ignored;
  const bool there = !installation.site.empty() &&
                     std::filesystem::exists(installation.site / "sitecustomize.py", ignored);
  Finding out{.name = "Python hook", .state = there ? "ok" : "partly"};
  out.why = there ? installation.site.string() : "fathom_site/sitecustomize.py is not beside us";
  if (!there) {
    out.hides = "names and members of groups, garbage collection, data loading";
    out.todo = "build or install the target fathom_site";
  }
  return out;
}

Finding CheckCollector(const CollectorApi& api) {
  Finding out{.name = "collector"};
  const absl::StatusOr<Json> jobs = api.Jobs();
  out.state = jobs.ok() ? "ok" : "partly";
  const std::string at = api.server().ToString();
  out.why = jobs.ok() ? Cat("answers at ", at, ", ", ListField(*jobs, "jobs").size(), " jobs")
            : absl::IsUnavailable(jobs.status()) ? Cat("none answers at ", at)
                                                 : Message(jobs.status());
  if (!jobs.ok()) {
    out.hides = "nothing for `fathom run`, which brings its own; get, explain and watch need one";
    out.todo = "start fathom-collector, or name another with --collector-http HOST:PORT";
  }
  return out;
}

Finding CheckAgent() {
  const absl::StatusOr<HostPort> address = ParseHostPort(kAgentHttp);
  const bool answers = address.ok() && AgentAnswers(*address);
  Finding out{.name = "node agent", .state = answers ? "ok" : "partly"};
  out.why = answers ? Cat("answers at ", kAgentHttp) : Cat("none answers at ", kAgentHttp);
  if (!answers) {
    out.hides = "nothing for `fathom run`; jobs started without it are not traced";
    out.todo = "start fathomd --collector HOST:7071 on every node of a cluster";
  }
  return out;
}

Finding CheckPorts(bool collector_answers, bool agent_answers) {
  std::string taken;
  for (const std::uint16_t port : {7070, 7071, 7072}) {
    const bool ours = port == 7072 ? agent_answers : collector_answers;
    if (!ours && !IsFree(port)) AppendTo(&taken, taken.empty() ? "" : ", ", port);
  }
  Finding out{.name = "ports", .state = taken.empty() ? "ok" : "partly"};
  out.why = taken.empty() ? "7070, 7071, 7072 are free or ours" : Cat("taken by others: ", taken);
  if (!taken.empty()) {
    out.hides = "nothing for `fathom run`, which takes free ones";
    out.todo = "start fathom-collector and fathomd with other --http and --grpc";
  }
  return out;
}

}  // namespace fathom::cli
