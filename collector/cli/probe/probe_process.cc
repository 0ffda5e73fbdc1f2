#include "collector/cli/probe/probe_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "collector/cli/http/socket.h"
#include "collector/cli/process/child_process.h"
#include "collector/cli/text/json_fields.h"
#include "collector/cli/text/text.h"
#include "collector/probe/probe_run.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kMostErrorBytes = 2000;

struct Ends {
  int out = -1, error = -1;  // read ends
  ~Ends() {
    if (out >= 0) close(out);
    if (error >= 0) close(error);
  }
};

// False at the end of the stream.
bool ReadSome(int fd, std::size_t most, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  const auto room = most - std::min(most, text.size());
  if (got > 0) text.append(buffer.data(), std::min(static_cast<std::size_t>(got), room));
  return got > 0;
}

bool AskedToStop(const SignalGate& gate) {
  const std::vector<signalfd_siginfo> signals = gate.Take();
  return std::any_of(signals.begin(), signals.end(), [](const signalfd_siginfo& signal) {
    return signal.ssi_signo == SIGINT || signal.ssi_signo == SIGTERM || signal.ssi_signo == SIGHUP;
  });
}

absl::Status Follow(const Ends& ends, const SignalGate& gate, Deadline deadline, std::string& out,
                    std::string& error) {
  std::array<pollfd, 3> wanted = {pollfd{ends.out, POLLIN, 0}, pollfd{ends.error, POLLIN, 0},
                                  pollfd{gate.fd(), POLLIN, 0}};
  while (wanted[0].fd >= 0) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return absl::DeadlineExceededError("the probes did not end in time");
    if (poll(wanted.data(), wanted.size(), static_cast<int>(left.count())) <= 0) continue;
    if (wanted[2].revents != 0 && AskedToStop(gate)) return absl::CancelledError("stopped");
    if (wanted[0].revents != 0 && !ReadSome(ends.out, kMostBytes, out)) wanted[0].fd = -1;
    if (wanted[1].revents != 0 && !ReadSome(ends.error, kMostErrorBytes, error)) wanted[1].fd = -1;
  }
  return absl::OkStatus();
}

absl::StatusOr<pid_t> Start(const std::vector<std::string>& argv, const SignalGate& gate,
                            Ends& ends) {
  int out[2];
  int error[2];
  if (pipe2(out, O_CLOEXEC) != 0) return absl::InternalError(std::strerror(errno));
  ends.out = out[0];
  if (pipe2(error, O_CLOEXEC) != 0) {
    close(out[1]);
    return absl::InternalError(std::strerror(errno));
  }
  ends.error = error[0];
  const Spawned spawned =
      SpawnCompanion(argv, CompanionEnvironment(CurrentEnvironment()), gate, out[1], error[1]);
  close(out[1]);
  close(error[1]);
  if (spawned.error == 0) return spawned.pid;
  return absl::NotFoundError(Cat(argv[0], ": ", std::strerror(spawned.error)));
}

}  // namespace

absl::StatusOr<v1::NodeProbe> RunProbeProcess(const std::vector<std::string>& argv,
                                              std::chrono::milliseconds patience) {
  const SignalGate gate;
  Ends ends;
  const absl::StatusOr<pid_t> pid = Start(argv, gate, ends);
  if (!pid.ok()) return pid.status();
  std::string out;
  std::string error;
  const absl::Status followed = Follow(ends, gate, In(patience), out, error);
  if (!followed.ok()) kill(-*pid, SIGKILL);
  int status = 0;
  waitpid(*pid, &status, 0);
  if (!followed.ok()) return followed;
  v1::NodeProbe run;
  const absl::Status read = collector::ReadProbeLines(out, run);
  if (!read.ok()) return read;
  if (run.results().empty()) {
    const std::string why = PrintableLine(error);
    return absl::InternalError(why.empty() ? Cat("fathom-probe: ", DescribeStatus(status)) : why);
  }
  return run;
}

}  // namespace fathom::cli
