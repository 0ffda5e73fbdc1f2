#include "kernels/suite/gpu_program.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "kernels/measure/workers.h"
#include "kernels/suite/result_line.h"

namespace fathom::kernels {
namespace {

constexpr int kNothingToRun = 77;
constexpr int kKilled = 2;

std::vector<std::string> ArgumentsOf(const std::string& program, const GpuRequest& request) {
  std::vector<std::string> arguments = {program, "--with-parent", "--memory-mib",
                                        std::to_string(request.memory_mib)};
  if (request.full) arguments.push_back("--full");
  if (request.seconds > 0) {
    arguments.insert(arguments.end(), {"--seconds", std::to_string(request.seconds)});
  }
  if (!request.probes.empty()) arguments.insert(arguments.end(), {"--probes", request.probes});
  return arguments;
}

void Say(Outcome outcome, const std::string& reason) {
  const std::string line =
      LineOf(ProbeResult{.probe = "gpu", .outcome = outcome, .reason = reason});
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
}

[[noreturn]] void Become(const std::vector<std::string>& arguments, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

// The wait status; −1: it was killed, because it did not end in time or was told to.
int Await(pid_t child, double patience_s, const std::atomic<bool>& stop) {
  const double end = WallSeconds() + patience_s;
  int status = 0;
  while (WallSeconds() < end && !stop.load()) {
    if (waitpid(child, &status, WNOHANG) == child) return status;
    const timespec pause{.tv_sec = 0, .tv_nsec = 20'000'000};
    nanosleep(&pause, nullptr);
  }
  kill(child, stop.load() ? SIGTERM : SIGKILL);
  waitpid(child, &status, 0);
  return -1;
}

}  // namespace

bool HasGpuDriver(const std::string& root) {
  return access((root + "/proc/driver/nvidia/version").c_str(), F_OK) == 0 ||
         access((root + "/dev/nvidiactl").c_str(), F_OK) == 0;
}

std::string GpuProgram() {
  char self[4096] = "";
  const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
  const std::string path(self, size > 0 ? static_cast<std::size_t>(size) : 0);
  return path.substr(0, path.rfind('/') + 1) + "fathom-probe-cuda";
}

int RunGpuProgram(const std::string& program, const GpuRequest& request,
                  const std::atomic<bool>& stop) {
  if (access(program.c_str(), X_OK) != 0) {
    Say(Outcome::kSkipped, program + ": " + std::strerror(errno));
    return kNothingToRun;
  }
  const std::vector<std::string> arguments = ArgumentsOf(program, request);
  const double set = request.full ? kGpuFullSeconds : kGpuFastSeconds;
  const double patience = 4 * (request.seconds > 0 ? request.seconds : set) + 120;
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child == 0) Become(arguments, self);
  const int status = child < 0 ? 127 << 8 : Await(child, patience, stop);
  if (status == -1) {
    Say(stop.load() ? Outcome::kStopped : Outcome::kKilled,
        stop.load() ? "stopped" : "the GPUs' probes did not end in time");
    return stop.load() ? 1 : kKilled;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) {
    Say(Outcome::kKilled, "the GPUs' program does not run");
    return kKilled;
  }
  if (WEXITSTATUS(status) == kNothingToRun) Say(Outcome::kSkipped, "CUDA can use no GPU here");
  return WEXITSTATUS(status);
}

}  // namespace fathom::kernels
