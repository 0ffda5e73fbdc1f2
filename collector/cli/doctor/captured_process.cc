#include "collector/cli/doctor/captured_process.h"

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

namespace fathom::cli {
namespace {

constexpr std::size_t kMaxBytes = 64 * 1024;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) read_end = ends[0], write_end = ends[1];
  }
  ~Pipe() {
    CloseWriteEnd();
    if (read_end >= 0) close(read_end);
  }
  void CloseWriteEnd() {
    if (write_end >= 0) close(write_end);
    write_end = -1;
  }
};

// False at the end of the stream.
bool ReadSome(int fd, std::string* out) {
  std::array<char, 4096> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got > 0) out->append(buffer.data(), std::min<std::size_t>(got, kMaxBytes - out->size()));
  return got > 0;
}

// Reads both until they end. False when the deadline came first.
bool ReadBoth(int out_fd, int err_fd, Deadline deadline, Captured* captured) {
  std::array<pollfd, 2> wanted = {pollfd{out_fd, POLLIN, 0}, pollfd{err_fd, POLLIN, 0}};
  const std::array<std::string*, 2> texts = {&captured->out, &captured->err};
  while (wanted[0].fd >= 0 || wanted[1].fd >= 0) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    if (poll(wanted.data(), wanted.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].revents != 0 && !ReadSome(wanted[i].fd, texts[i])) wanted[i].fd = -1;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<Captured> Capture(const std::vector<std::string>& argv,
                                 const Environment& environment,
                                 std::chrono::milliseconds timeout) {
  const SignalGate gate;
  Pipe out, err;
  const Spawned spawned = SpawnCompanion(argv, environment, gate, out.write_end, err.write_end);
  if (spawned.error != 0) return absl::NotFoundError(std::strerror(spawned.error));
  out.CloseWriteEnd();
  err.CloseWriteEnd();
  Captured captured;
  const bool ended = ReadBoth(out.read_end, err.read_end, In(timeout), &captured);
  if (!ended) kill(-spawned.pid, SIGKILL);
  int status = 0;
  waitpid(spawned.pid, &status, 0);
  if (!ended) return absl::DeadlineExceededError("it did not end in time");
  captured.exit_code = ExitCodeOfStatus(status);
  return captured;
}

}  // namespace fathom::cli
