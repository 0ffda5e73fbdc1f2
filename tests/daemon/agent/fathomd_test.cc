// The program itself: ready line, port, exit codes, signals.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fakes/fake_collector.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int kDeadlineMs = 20'000;

// A running fathomd whose stdout and stderr are read through pipes.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments) {
    int out[2];
    int err[2];
    if (pipe(out) != 0 || pipe(err) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      for (const int fd : {out[0], out[1], err[0], err[1]}) close(fd);
      Exec(arguments);
    }
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(err_);
  }

  // What came on stdout up to the end of the first line.
  std::string FirstLine() { return ReadUntil(out_, true); }
  std::string AllErrors() { return ReadUntil(err_, false); }
  // Reads stderr line by line until one has `text`; false: it ended, or kept silent.
  bool Says(const std::string& text) const {
    for (std::string line = "-"; !line.empty();) {
      line = ReadUntil(err_, true);
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }
  void Signal(int signal) const { kill(pid_, signal); }
  // The exit code; 128 + signal if it was killed.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  [[noreturn]] static void Exec(const std::vector<std::string>& arguments) {
    const char* folder = std::getenv("FATHOM_BINARY_DIR");
    const std::string program = std::string(folder == nullptr ? "." : folder) + "/fathomd";
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  static std::string ReadUntil(int fd, bool one_line) {
    std::string text;
    pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
    while (poll(&wait, 1, kDeadlineMs) > 0) {
      char c = 0;
      if (read(fd, &c, 1) <= 0) break;
      if (one_line && c == '\n') break;
      text.push_back(c);
    }
    return text;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

class FathomdTest : public testing::Test {
 protected:
  std::vector<std::string> Arguments(std::vector<std::string> more) const {
    std::vector<std::string> all = {"--shm-dir", folder_.path() + "/shm", "--collector",
                                    "127.0.0.1:1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  fakes::RingFolder folder_;
};

TEST_F(FathomdTest, SaysItIsReadyAndEndsOnSigterm) {
  Program agent(Arguments({"--http", "127.0.0.1:0"}));
  EXPECT_THAT(agent.FirstLine(), StartsWith("fathomd ready http=127.0.0.1:"));
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path() + "/shm"));
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), 0);
  const std::string log = agent.AllErrors();
  const std::string missing = "no collector at 127.0.0.1:1";
  EXPECT_EQ(log.find(missing), log.rfind(missing)) << "said more than once:\n" << log;
}

TEST_F(FathomdTest, APortInUseIsOneLineAndExitOne) {
  Program first(Arguments({"--http", "127.0.0.1:0"}));
  const std::string ready = first.FirstLine();
  const std::string address = ready.substr(ready.find("127.0.0.1"));
  Program second(Arguments({"--http", address, "--log-level", "off"}));
  EXPECT_EQ(second.Wait(), 1);
  const std::string error = second.AllErrors();
  EXPECT_THAT(error, HasSubstr(address));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1);
}

TEST_F(FathomdTest, BadSettingsAreOneLineAndExitOne) {
  Program agent(Arguments({"--htpp", "x"}));
  EXPECT_EQ(agent.Wait(), 1);
  EXPECT_THAT(agent.AllErrors(), HasSubstr("did you mean 'http'?"));
}

TEST_F(FathomdTest, SighupTakesTheLogLevelAndKeepsTheOldOnAnError) {
  const std::string file = folder_.path() + "/agent.yaml";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  write("log_level: warn\n");
  Program agent(Arguments({"--http", "", "--config", file}));
  EXPECT_EQ(agent.FirstLine(), "fathomd ready");
  write("log_levle: info\n");
  agent.Signal(SIGHUP);
  EXPECT_TRUE(agent.Says("did you mean 'log-level'"));
  write("log_level: info\nlinger_s: 7\n");
  agent.Signal(SIGHUP);
  EXPECT_TRUE(agent.Says("settings read again"));
  EXPECT_TRUE(agent.Says("linger-s has changed and takes effect with a restart only"));
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), 0);
}

TEST_F(FathomdTest, ChecksItsSettingsWithoutRunning) {
  Program agent(Arguments({"--check-config"}));
  EXPECT_EQ(agent.FirstLine(), "fathomd: the settings are good");
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/shm"));
}

TEST_F(FathomdTest, TheLastRecordsReachTheCollectorOnSigterm) {
  fakes::FakeCollector collector;
  collector.Start();
  Program agent({"--shm-dir", folder_.path() + "/shm", "--collector", collector.target(), "--http",
                 "", "--node", "n9"});
  EXPECT_EQ(agent.FirstLine(), "fathomd ready");
  ASSERT_TRUE(collector.WaitFor([](const auto& messages) { return !messages.empty(); }));
  fakes::RingWriter ring(folder_.path() + "/shm", {});
  ring.AddGroup("0", 2, 0, {0, 1});
  ASSERT_TRUE(collector.WaitFor([](const auto& messages) {
    return std::any_of(messages.begin(), messages.end(),
                       [](const auto& m) { return m.has_group(); });
  }));
  WriteOp(ring, {.op_id = 1, .enter_ns = 100, .end_ns = 200});
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_EQ(collector.messages().back().counters().ops(), 1u);
  EXPECT_EQ(collector.messages().front().hello().node(), "n9");
}

TEST_F(FathomdTest, AKilledAgentLeavesTheRingAndANewOneTakesItUp) {
  fakes::FakeCollector collector;
  collector.Start();
  const std::vector<std::string> arguments = {
      "--shm-dir", folder_.path() + "/shm", "--collector", collector.target(), "--http", ""};
  std::filesystem::create_directories(folder_.path() + "/shm");
  fakes::RingWriter ring(folder_.path() + "/shm", {});
  ring.AddGroup("0", 2, 0, {0, 1});
  const auto group_told = [](const auto& messages) {
    return std::any_of(messages.begin(), messages.end(),
                       [](const auto& m) { return m.has_group(); });
  };
  {
    Program agent(arguments);
    ASSERT_TRUE(collector.WaitFor(group_told));
    agent.Signal(SIGKILL);
    EXPECT_EQ(agent.Wait(), 128 + SIGKILL);
  }
  EXPECT_TRUE(std::filesystem::exists(ring.path()));
  collector.Forget();
  Program again(arguments);
  EXPECT_TRUE(collector.WaitFor(group_told));
}

}  // namespace
}  // namespace fathom::agent
