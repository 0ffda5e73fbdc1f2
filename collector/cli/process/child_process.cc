#include "collector/cli/process/child_process.h"
#include "collector/cli/text/text.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fathom::cli {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& each : strings) out.push_back(const_cast<char*>(each.c_str()));
  out.push_back(nullptr);
  return out;
}

struct Lead {
  int stdout_fd;
  int stderr_fd;
};

// In the child. Returns false when the parent died meanwhile.
bool PutOnLead(const Lead& lead, pid_t parent, int error_fd) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return false;
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, 0);
  dup2(lead.stdout_fd, 1);
  dup2(lead.stderr_fd, 2);
  dup2(error_fd, 3);
  fcntl(3, F_SETFD, FD_CLOEXEC);
  close_range(4, ~0U, 0);
  return true;
}

// The pipe closes by itself when exec succeeds; otherwise it carries errno.
int ReadExecError(int fd) {
  int error = 0;
  ssize_t got;
  do {
    got = read(fd, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof(error)) ? error : 0;
}

Spawned Spawn(const std::vector<std::string>& argv, const Environment& environment,
              const SignalGate& gate, const Lead* lead) {
  const std::vector<char*> arguments = Pointers(argv);
  const std::vector<char*> variables = Pointers(environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {-1, errno};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    int error_fd = ends[1];
    if (lead != nullptr) {
      if (!PutOnLead(*lead, parent, error_fd)) _exit(1);
      error_fd = 3;
    }
    gate.Restore();
    execvpe(arguments[0], arguments.data(), variables.data());
    const int error = errno;
    if (write(error_fd, &error, sizeof(error)) < 0) _exit(1);
    _exit(127);
  }
  const int fork_error = errno;
  close(ends[1]);
  const int exec_error = pid < 0 ? fork_error : ReadExecError(ends[0]);
  close(ends[0]);
  if (pid > 0 && exec_error != 0) waitpid(pid, nullptr, 0);
  return {exec_error == 0 ? pid : -1, exec_error};
}

int LookUpPath(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

Spawned SpawnCommand(const std::vector<std::string>& argv, const Environment& environment,
                     const SignalGate& gate) {
  return Spawn(argv, environment, gate, nullptr);
}

Spawned SpawnCompanion(const std::vector<std::string>& argv, const Environment& environment,
                       const SignalGate& gate, int stdout_fd, int stderr_fd) {
  const Lead lead{stdout_fd, stderr_fd};
  return Spawn(argv, environment, gate, &lead);
}

int LookUpCommand(const std::string& name) {
  if (name.empty()) return ENOENT;
  if (name.find('/') != std::string::npos) return LookUpPath(name);
  const char* path = std::getenv("PATH");
  int worst = ENOENT;
  for (const std::string_view folder : SplitWords(path == nullptr ? "/bin:/usr/bin" : path, ":")) {
    const int error = LookUpPath(Cat(folder, "/", name));
    if (error == 0) return 0;
    if (error == EACCES) worst = EACCES;
  }
  return worst;
}

int ExitCodeOfExecError(const std::string& name, int error) {
  const bool absent = error == ENOENT || error == ENOTDIR;
  // A script that is there, but whose interpreter is not, also fails with ENOENT.
  return absent && LookUpCommand(name) != 0 ? 127 : 126;
}

int ExitCodeOfStatus(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string DescribeStatus(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return Cat("exit code ", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return Cat("killed by signal ", signal, " (", strsignal(signal), ")");
}

}  // namespace fathom::cli
