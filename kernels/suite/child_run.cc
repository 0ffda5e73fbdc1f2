#include "kernels/suite/child_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>

#include "kernels/measure/workers.h"
#include "kernels/suite/result_line.h"

namespace fathom::kernels {
namespace {

constexpr double kReapWithin = 1;
constexpr int kLookMs = 20;

// The first byte tells the outcome, the rest is the line.
char CodeOf(Outcome outcome) { return static_cast<char>('0' + static_cast<int>(outcome)); }

[[noreturn]] void RunProbe(const std::string& name, const std::function<ProbeResult()>& probe,
                           pid_t parent, int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const double begin = WallSeconds();
  ProbeResult result;
  try {
    result = probe();
  } catch (const std::exception& error) {  // memory that it was promised and did not get
    result.outcome = Outcome::kSkipped;
    result.reason = error.what();
  }
  result.probe = name;
  result.seconds = WallSeconds() - begin;
  const std::string text = CodeOf(result.outcome) + LineOf(result);
  const bool whole = write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(whole ? 0 : 1);
}

// What came within the patience; whole when it ends with a newline.
std::string Collect(int in, double patience_s, const std::atomic<bool>& stop) {
  std::string text;
  const double end = WallSeconds() + patience_s;
  while (WallSeconds() < end && !stop.load(std::memory_order_relaxed)) {
    pollfd waited{.fd = in, .events = POLLIN, .revents = 0};
    if (poll(&waited, 1, kLookMs) <= 0) continue;
    char part[4096];
    const ssize_t got = read(in, part, sizeof part);
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
    if (text.back() == '\n') break;
  }
  return text;
}

// The wait status; −1: it cannot be killed.
int Reap(pid_t child) {
  kill(child, SIGKILL);
  const double end = WallSeconds() + kReapWithin;
  do {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
    nanosleep(&pause, nullptr);
  } while (WallSeconds() < end);
  return -1;
}

std::string WhyKilled(int status, double waited, double patience_s) {
  if (status < 0) return "it hangs in the kernel and cannot be killed";
  if (waited >= patience_s) {
    return "it did not end within " + std::to_string(static_cast<int>(patience_s + 0.5)) + " s";
  }
  if (WIFSIGNALED(status)) return std::string("it died of signal ") + strsignal(WTERMSIG(status));
  return "it ended without a result";
}

ChildEnd Broken(const std::string& name, Outcome outcome, std::string reason, double seconds) {
  ProbeResult result{.probe = name, .outcome = outcome, .reason = std::move(reason)};
  result.seconds = seconds;
  return {.outcome = outcome, .line = LineOf(result)};
}

}  // namespace

ChildEnd RunInChild(const std::string& name, const std::function<ProbeResult()>& probe,
                    double patience_s, const std::atomic<bool>& stop) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Broken(name, Outcome::kSkipped, "no pipe", 0);
  const pid_t self = getpid();
  const double begin = WallSeconds();
  const pid_t child = fork();
  if (child == 0) RunProbe(name, probe, self, ends[1]);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return Broken(name, Outcome::kSkipped, "no process", 0);
  }
  const std::string text = Collect(ends[0], patience_s, stop);
  close(ends[0]);
  const double took = WallSeconds() - begin;
  const int status = Reap(child);
  if (text.size() > 1 && text.back() == '\n') {
    return {.outcome = static_cast<Outcome>(text.front() - '0'), .line = text.substr(1)};
  }
  if (stop.load()) return Broken(name, Outcome::kStopped, "stopped", took);
  return Broken(name, Outcome::kKilled, WhyKilled(status, took, patience_s), took);
}

}  // namespace fathom::kernels
