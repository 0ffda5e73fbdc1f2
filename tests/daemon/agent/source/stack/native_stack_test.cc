// Stacks of real processes, read natively: of this program, forked, and of Python.
#include "daemon/agent/source/stack/native_stack.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "daemon/agent/source/stack/stack_reader.h"

extern char** environ;

namespace fathom::agent {

// Names that the symbol table keeps. The work after each call keeps its frame.
extern "C" __attribute__((noinline)) void fathom_test_waits(int fd) {
  char byte = 0;
  while (read(fd, &byte, 1) < 0) {
  }
}
extern "C" __attribute__((noinline)) void fathom_test_calls(int fd) {
  fathom_test_waits(fd);
  asm volatile("" ::: "memory");
}
extern "C" __attribute__((noinline)) void fathom_test_spins() {
  while (true) asm volatile("" ::: "memory");
}

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Nanos kMostPause{50'000'000};

// A forked child that runs `what` until it is killed.
class Child {
 public:
  explicit Child(const std::function<void()>& what) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    what();
    _exit(0);
  }
  explicit Child(pid_t running) : pid_(running) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { End(); }

  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  void End() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

class NativeStackTest : public ::testing::Test {
 protected:
  NativeStackTest() {
    EXPECT_EQ(pipe2(pipe_, O_CLOEXEC), 0);
    if (const auto self = ReadNativeStack(1u << 22, 1u << 22);
        absl::IsUnimplemented(self.status())) {
      skip_ = true;
    }
  }
  ~NativeStackTest() override {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  void SetUp() override {
    if (skip_) GTEST_SKIP() << "registers of this machine are not known";
  }

  // Until it stands where it shall, for a child needs some time to get there.
  static StackReading ReadUntil(std::uint32_t pid, const std::string& function) {
    absl::StatusOr<StackReading> reading;
    for (int i = 0; i < 2000; ++i) {
      reading = ReadNativeStack(pid, pid);
      if (!reading.ok()) break;
      for (const std::string& frame : reading->frames) {
        if (frame.starts_with(function)) return *reading;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ADD_FAILURE() << "never in " << function << ": " << reading.status();
    return {};
  }

  // The shortest of some: on a crowded machine our own thread may lose its core in the middle.
  static Nanos ShortestPause(std::uint32_t pid) {
    Nanos shortest{std::numeric_limits<std::int64_t>::max()};
    for (int i = 0; i < 10; ++i) {
      const auto reading = ReadNativeStack(pid, pid);
      if (reading.ok()) shortest = std::min(shortest, reading->pause);
    }
    return shortest;
  }

  int pipe_[2] = {-1, -1};
  bool skip_ = false;
};

TEST_F(NativeStackTest, NamesTheFramesOfAProcessThatWaits) {
  Child child([this] { fathom_test_calls(pipe_[0]); });
  const StackReading reading = ReadUntil(child.pid(), "fathom_test_calls");
  EXPECT_THAT(reading.frames.front(), HasSubstr("read (libc.so"));
  EXPECT_THAT(reading.frames.at(1), StartsWith("fathom_test_waits (agent_process_test"));
  EXPECT_EQ(reading.source, "native");
  EXPECT_GT(reading.pause.count, 0);
  const Nanos pause = ShortestPause(child.pid());
  EXPECT_LT(pause, kMostPause);
  std::printf("paused for %.3f ms\n", 1e3 * pause.Seconds());
}

TEST_F(NativeStackTest, LetsTheProcessGoOnAsItWas) {
  Child child([this] {
    fathom_test_calls(pipe_[0]);
    _exit(7);
  });
  for (int i = 0; i < 20; ++i) ReadUntil(child.pid(), "fathom_test_waits");
  ASSERT_EQ(write(pipe_[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(static_cast<pid_t>(child.pid()), &status, 0), static_cast<pid_t>(child.pid()));
  EXPECT_EQ(WEXITSTATUS(status), 7) << "its read was taken up again and it ended in order";
}

TEST_F(NativeStackTest, SeesALoop) {
  Child child([] { fathom_test_spins(); });
  ReadUntil(child.pid(), "fathom_test_spins");
  EXPECT_LT(ShortestPause(child.pid()), kMostPause);
}

TEST_F(NativeStackTest, AStoppedProcessStaysStopped) {
  Child child([] { fathom_test_spins(); });
  kill(static_cast<pid_t>(child.pid()), SIGSTOP);
  ASSERT_EQ(waitpid(static_cast<pid_t>(child.pid()), nullptr, WUNTRACED),
            static_cast<pid_t>(child.pid()));
  (void)ReadNativeStack(child.pid(), child.pid());
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, child.pid(), &info, WSTOPPED | WNOHANG | WNOWAIT), 0);
  kill(static_cast<pid_t>(child.pid()), SIGCONT);
  ReadUntil(child.pid(), "fathom_test_spins");
}

TEST_F(NativeStackTest, AProcessThatVanishesWhileItIsReadIsNoLoss) {
  for (int i = 0; i < 40; ++i) {
    Child child([] { fathom_test_spins(); });
    std::thread killer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(150 * i));
      kill(static_cast<pid_t>(child.pid()), SIGKILL);
    });
    const auto reading = ReadNativeStack(child.pid(), child.pid());
    EXPECT_TRUE(reading.ok() || absl::IsNotFound(reading.status()) ||
                absl::IsUnavailable(reading.status()))
        << reading.status();
    killer.join();
  }
}

TEST_F(NativeStackTest, AProcessThatIsGoneIsNotFound) {
  Child child([] {});
  waitpid(static_cast<pid_t>(child.pid()), nullptr, WEXITED);
  const std::uint32_t pid = child.pid();
  child.End();
  EXPECT_TRUE(absl::IsNotFound(ReadNativeStack(pid, pid).status()));
}

TEST_F(NativeStackTest, WhereItIsForbiddenItSaysWhichSettingAllowsIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  Child target([this] { fathom_test_calls(pipe_[0]); });
  Child stranger([&] {
    if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    const auto reading = ReadNativeStack(target.pid(), target.pid());
    const std::string said(reading.status().message());
    _exit(absl::IsPermissionDenied(reading.status()) &&
                  said.find("kernel.yama.ptrace_scope") != std::string::npos &&
                  said.find("CAP_SYS_PTRACE") != std::string::npos
              ? 0
              : 1);
  });
  int status = -1;
  waitpid(static_cast<pid_t>(stranger.pid()), &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(NativeStackTest, ReadsPythonWherePySpyIsAbsent) {
  const char* arguments[] = {"python3", "-c", "import time; time.sleep(1000)", nullptr};
  pid_t pid = -1;
  ASSERT_EQ(
      posix_spawnp(&pid, "python3", nullptr, nullptr, const_cast<char* const*>(arguments), environ),
      0);
  const Child python(pid);
  StackReader reader("no-such-py-spy", "/nonexistent");
  const std::atomic<bool> stop{false};
  std::vector<std::string> frames;
  for (int i = 0; i < 400 && frames.size() < 3; ++i) {
    const auto reading = reader.Read(static_cast<std::uint32_t>(pid), stop);
    if (!reading.ok()) continue;  // it is still being loaded
    EXPECT_EQ(reading->source, "native");
    const bool sleeps = reading->frames.front().find("nanosleep") != std::string::npos ||
                        reading->frames.front().find("select") != std::string::npos;
    if (sleeps) frames = reading->frames;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(frames, Contains(HasSubstr("_PyEval_EvalFrameDefault")));
}

}  // namespace
}  // namespace fathom::agent
