// Stacks told by a process itself: real Pythons that run the hook's own code.
#include "daemon/agent/source/stack/inside_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "daemon/agent/source/stack/stack_reader.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr char kWaits[] =
    "import time\n"
    "def waits():\n    time.sleep(1000)\n"
    "def trains():\n    waits()\n";

// A Python that has the hook's thread, if `setting` is "1", and then runs `code`.
class Python {
 public:
  Python(const std::string& folder, const std::string& setting, const std::string& code) {
    const char* source = std::getenv("FATHOM_SOURCE_DIR");
    const std::string site =
        std::string(source == nullptr ? "." : source) + "/daemon/tracer/python/fathom_site";
    const std::string program = "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '" +
                                site + "')\nfrom fathom_python import stacks; stacks.start()\n" +
                                code;
    const std::string folder_is = "FATHOM_SHM_DIR=" + folder;
    const std::string asked = "FATHOM_INSIDE_STACKS=" + setting;
    const std::string path = std::string("PATH=") + std::getenv("PATH");
    const char* arguments[] = {"python3", "-s", "-c", program.c_str(), nullptr};
    const char* environment[] = {folder_is.c_str(), asked.c_str(), path.c_str(), nullptr};
    EXPECT_EQ(posix_spawnp(&pid_, "python3", nullptr, nullptr, const_cast<char* const*>(arguments),
                           const_cast<char* const*>(environment)),
              0);
  }
  Python(const Python&) = delete;
  Python& operator=(const Python&) = delete;
  ~Python() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  std::uint32_t pid() const { return static_cast<std::uint32_t>(pid_); }
  void Signal(int number) const { kill(pid_, number); }
  void Stop() const {
    Signal(SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  int Wait() const {
    int status = -1;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
};

class InsideStackTest : public testing::Test {
 protected:
  absl::StatusOr<StackReading> Ask(const Python& python) const {
    return AskInside(folder_.path(), python.pid(), stop_);
  }
  // Asks until the innermost frame is one of `function`: the process may still be starting.
  absl::StatusOr<StackReading> AskUntilIn(const Python& python, const std::string& function) const {
    absl::StatusOr<StackReading> reading = Ask(python);
    for (int i = 0; i < 3000; ++i) {
      if (reading.ok() && reading->frames.front().starts_with(function + " ")) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      reading = Ask(python);
    }
    return reading;
  }
  bool WaitForFile(const std::string& path) const {
    for (int i = 0; i < 3000 && !std::filesystem::exists(path); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return std::filesystem::exists(path);
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  const fakes::RingFolder folder_;
  const std::atomic<bool> stop_{false};
};

TEST_F(InsideStackTest, TellsFunctionsFilesAndLines) {
  const Python python(folder_.path(), "1", std::string(kWaits) + "trains()\n");
  const auto reading = AskUntilIn(python, "waits");
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_THAT(reading->frames,
              ElementsAre("waits (<string>:5)", "trains (<string>:7)", "<module> (<string>:8)"));
  EXPECT_EQ(reading->source, "in-process");
  EXPECT_GE(reading->pause, Nanos());
  const std::string socket = InsideSocket(folder_.path(), python.pid());
  EXPECT_THAT(Files(), ElementsAre(std::filesystem::path(socket).filename().string()));
  struct stat info {};
  ASSERT_EQ(stat(socket.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(InsideStackTest, IsTakenWherePySpyIsAbsent) {
  const Python python(folder_.path(), "1", std::string(kWaits) + "trains()\n");
  ASSERT_TRUE(AskUntilIn(python, "waits").ok());
  StackReader reader("no-such-py-spy", folder_.path());
  const auto reading = reader.Read(python.pid(), stop_);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->source, "in-process");
}

TEST_F(InsideStackTest, NobodyAnswersUnlessTheJobWantsIt) {
  const Python python(folder_.path(), "0", std::string(kWaits) + "trains()\n");
  const auto reading = Ask(python);
  EXPECT_TRUE(absl::IsNotFound(reading.status())) << reading.status();
  EXPECT_THAT(std::string(reading.status().message()), HasSubstr("FATHOM_INSIDE_STACKS=1"));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(InsideStackTest, AStoppedProcessAnswersWhenItGoesOn) {
  const Python python(folder_.path(), "1", std::string(kWaits) + "trains()\n");
  ASSERT_TRUE(AskUntilIn(python, "waits").ok());
  python.Stop();
  const auto stopped = Ask(python);
  EXPECT_TRUE(absl::IsDeadlineExceeded(stopped.status())) << stopped.status();
  EXPECT_THAT(std::string(stopped.status().message()), HasSubstr("stopped"));
  python.Signal(SIGCONT);
  EXPECT_TRUE(AskUntilIn(python, "waits").ok());
}

TEST_F(InsideStackTest, WhoKeepsPythonsLockGivesNoAnswer) {
  const Python python(folder_.path(), "1", "import ctypes\nctypes.PyDLL(None).pause()\n");
  ASSERT_TRUE(WaitForFile(InsideSocket(folder_.path(), python.pid())));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  absl::StatusOr<StackReading> reading = Ask(python);
  while (!absl::IsDeadlineExceeded(reading.status()) &&  // before it pauses
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reading = Ask(python);
  }
  EXPECT_TRUE(absl::IsDeadlineExceeded(reading.status())) << reading.status();
}

TEST_F(InsideStackTest, SomebodyElsesAnswerIsNotBelieved) {
  const Python python(folder_.path(), "1", std::string(kWaits) + "trains()\n");
  ASSERT_TRUE(AskUntilIn(python, "waits").ok());
  const Python other(folder_.path(), "0", std::string(kWaits) + "trains()\n");
  std::filesystem::rename(InsideSocket(folder_.path(), python.pid()),
                          InsideSocket(folder_.path(), other.pid()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(Ask(other).status())) << Ask(other).status();
}

TEST_F(InsideStackTest, AProcessThatEndsTakesItsSocketAlong) {
  const Python python(folder_.path(), "1", "pass\n");
  EXPECT_EQ(python.Wait(), 0);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(InsideStackTest, AForkedChildHasNoPartInIt) {
  const std::string code =
      "import os, threading\n"
      "assert [t.name for t in threading.enumerate()] == ['MainThread']\n"
      "child = os.fork()\n"
      "if not child: os._exit(len(os.listdir('/proc/self/task')))\n"
      "status = os.waitpid(child, 0)[1]\n"
      "assert os.WEXITSTATUS(status) == 1, status\n"
      "assert len(os.listdir('/proc/self/task')) == 2\n" +
      std::string(kWaits) + "trains()\n";
  const Python python(folder_.path(), "1", code);
  const auto reading = AskUntilIn(python, "waits");
  EXPECT_TRUE(reading.ok()) << reading.status();
}

TEST(ParseAnswerTest, ReadsTheLockAndTheFrames) {
  const auto reading =
      ParseAnswer("held 52000\nThread 7 (inside): \"MainThread\"\n    f (a.py:3)\n", 7);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_THAT(reading->frames, ElementsAre("f (a.py:3)"));
  EXPECT_EQ(reading->pause, Nanos(52'000));
}

TEST(ParseAnswerTest, RefusesWhatNoHookWrites) {
  for (const char* answer :
       {"", "held", "held 5", "held x\nThread 7 (a): \"MainThread\"\n    f (a.py:3)",
        "held -5\nThread 7 (a): \"MainThread\"\n    f (a.py:3)", "held 5\n",
        "held 5\nThread 7 (a)\n", "Thread 7 (a): \"MainThread\"\n    f (a.py:3)"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseAnswer(answer, 7).status())) << answer;
  }
}

TEST(AskInsideTest, AFolderWithoutRoomForASocketIsSaid) {
  const std::atomic<bool> stop{false};
  const auto missing = AskInside("/nonexistent", 7, stop);
  EXPECT_THAT(std::string(missing.status().message()),
              AllOf(StartsWith("no socket"), HasSubstr("/nonexistent")));
}

}  // namespace
}  // namespace fathom::agent
