#include "tests/collector/server/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace fathom::collector {
namespace {

constexpr std::chrono::seconds kPatience{10};

std::string Binary() {
  const char* folder = std::getenv("FATHOM_BINARY_DIR");
  return std::string(folder ? folder : ".") + "/fathom-collector";
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  const std::string binary = Binary();
  std::vector<char*> argv{const_cast<char*>(binary.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) std::abort();
  pid_ = fork();
  if (pid_ == 0) {
    dup2(out[1], 1);
    dup2(err[1], 2);
    execv(binary.c_str(), argv.data());
    _exit(126);
  }
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

ChildProcess::~ChildProcess() {
  if (code_ < 0) {
    Signal(SIGKILL);
    Wait();
  }
  close(out_);
  close(err_);
}

bool ChildProcess::WaitReady() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::string line;
  while (line.find('\n') == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{out_, POLLIN, 0};
    char byte = 0;
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
    if (read(out_, &byte, 1) != 1) return false;
    line.push_back(byte);
  }
  return std::sscanf(line.c_str(), "fathom-collector ready grpc=127.0.0.1:%d http=127.0.0.1:%d",
                     &grpc_port_, &http_port_) == 2;
}

void ChildProcess::Signal(int number) const { kill(pid_, number); }

int ChildProcess::Wait() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (code_ < 0 && std::chrono::steady_clock::now() < deadline) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  return code_;
}

bool ChildProcess::Says(const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (said_.find(text) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd ready{err_, POLLIN, 0};
    char bytes[4096];
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t n = read(err_, bytes, sizeof bytes);
    if (n <= 0) return false;
    said_.append(bytes, static_cast<std::size_t>(n));
  }
  return true;
}

std::string ChildProcess::Errors() { return said_ += ReadAll(err_); }

}  // namespace fathom::collector
