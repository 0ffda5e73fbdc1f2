// The disk, the network between two ends on loopback, and how a probe is run and killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "kernels/disk/disk.h"
#include "kernels/measure/workers.h"
#include "kernels/network/pair.h"
#include "kernels/suite/child_run.h"
#include "kernels/suite/result_line.h"
#include "kernels/suite/suite.h"

namespace fathom::kernels {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const std::atomic<bool> kNeverStopped{false};

Bounds ShortBounds() {
  Bounds bounds;
  bounds.seconds = 0.2;
  bounds.bytes = std::size_t{6} << 20;
  bounds.cpus = {0};
  bounds.numa = {{0}};
  return bounds;
}

std::string BuildFolder() {
  const char* folder = std::getenv("FATHOM_BINARY_DIR");
  return folder == nullptr ? "." : folder;
}

TEST(Disk, WritesAndReadsBackForReal) {
  Bounds bounds = ShortBounds();
  bounds.folder = BuildFolder();
  const ProbeResult result = Disk(bounds);
  if (result.outcome == Outcome::kSkipped) GTEST_SKIP() << result.reason;
  EXPECT_EQ(result.outcome, Outcome::kDone) << result.reason;
  ASSERT_EQ(result.figures.size(), 4u);
  for (const Figure& figure : result.figures) EXPECT_GT(figure.value, 0) << figure.name;
}

TEST(Disk, MemoryIsNoDisk) {
  Bounds bounds = ShortBounds();
  bounds.folder = "/dev/shm";
  EXPECT_EQ(Disk(bounds).outcome, Outcome::kSkipped);
}

TEST(Disk, AFolderThatIsNotThereIsSkippedWithTheReason) {
  Bounds bounds = ShortBounds();
  bounds.folder = "/nowhere/at/all";
  const ProbeResult result = Disk(bounds);
  EXPECT_EQ(result.outcome, Outcome::kSkipped);
  EXPECT_THAT(result.reason, HasSubstr("/nowhere/at/all: No such file"));
}

// Both ends, each on a thread.
std::pair<ProbeResult, ProbeResult> RunPair(const std::string& token, const std::string& told) {
  std::promise<std::uint16_t> port;
  ProbeResult server;
  const Bounds bounds = ShortBounds();
  std::thread serving([&] {
    server = ServePair(bounds, "127.0.0.1", token, [&](std::uint16_t at) { port.set_value(at); });
  });
  const PairAddress address{"127.0.0.1", std::to_string(port.get_future().get())};
  ProbeResult client = MeasurePair(bounds, address, told);
  serving.join();
  return {std::move(server), std::move(client)};
}

TEST(Pair, MeasuresBothDirectionsOnLoopback) {
  const auto [server, client] = RunPair("secret", "secret");
  EXPECT_EQ(server.outcome, Outcome::kDone) << server.reason;
  EXPECT_EQ(client.outcome, Outcome::kDone) << client.reason;
  ASSERT_EQ(client.figures.size(), 5u);
  for (const Figure& figure : client.figures) {
    EXPECT_GE(figure.value, 0) << figure.name;
    EXPECT_TRUE(figure.value > 0 || figure.name == "pair_loss") << figure.name;
  }
}

TEST(Pair, AStrangerGetsNothing) {
  const auto [server, client] = RunPair("secret", "guess");
  EXPECT_THAT(server.reason, HasSubstr("without the token"));
  EXPECT_EQ(client.outcome, Outcome::kFaulty);
}

TEST(Pair, NobodyThereIsSkippedWithTheReason) {
  const ProbeResult result = MeasurePair(ShortBounds(), {"127.0.0.1", "1"}, "");
  EXPECT_EQ(result.outcome, Outcome::kSkipped);
  EXPECT_THAT(result.reason, HasSubstr("Connection refused"));
}

TEST(Pair, AStoppedServerEnds) {
  std::atomic<bool> stop{false};
  Bounds bounds = ShortBounds();
  bounds.seconds = 3600;
  bounds.stop = &stop;
  const ProbeResult result =
      ServePair(bounds, "127.0.0.1", "", [&](std::uint16_t) { stop.store(true); });
  EXPECT_EQ(result.outcome, Outcome::kSkipped);
}

TEST(Pair, AddressesAreRead) {
  PairAddress address;
  EXPECT_TRUE(ParsePairAddress("node7:4000", address));
  EXPECT_EQ(address.host, "node7");
  EXPECT_TRUE(ParsePairAddress("[fe80::1]:4000", address));
  EXPECT_EQ(address.host, "fe80::1");
  for (const char* bad : {"", "node7", "node7:", ":4000", "fe80::1:4000", "node7:http"}) {
    EXPECT_FALSE(ParsePairAddress(bad, address)) << bad;
  }
}

TEST(ChildRun, HandsOnTheResult) {
  const ChildEnd end = RunInChild(
      "p", [] { return ProbeResult{.figures = {{.name = "f", .value = 2, .unit = "B"}}}; }, 60,
      kNeverStopped);
  EXPECT_EQ(end.outcome, Outcome::kDone);
  const Json line = Json::parse(end.line);
  EXPECT_EQ(line["result"]["probe"], "p");
  EXPECT_EQ(line["result"]["figures"][0]["value"], 2);
}

TEST(ChildRun, KillsWhatDoesNotEnd) {
  const ChildEnd end = RunInChild(
      "p",
      [] {
        std::signal(SIGTERM, SIG_IGN);
        while (true) pause();
        return ProbeResult{};
      },
      0.2, kNeverStopped);
  EXPECT_EQ(end.outcome, Outcome::kKilled);
  EXPECT_THAT(end.line, HasSubstr("did not end within"));
}

TEST(ChildRun, TellsACrash) {
  const ChildEnd end = RunInChild(
      "p",
      [] {
        raise(SIGKILL);
        return ProbeResult{};
      },
      60, kNeverStopped);
  EXPECT_EQ(end.outcome, Outcome::kKilled);
  EXPECT_THAT(end.line, HasSubstr("died of signal Killed"));
}

TEST(ChildRun, IsStopped) {
  const std::atomic<bool> stop{true};
  const ChildEnd end = RunInChild(
      "p",
      [] {
        while (true) pause();
        return ProbeResult{};
      },
      3600, stop);
  EXPECT_EQ(end.outcome, Outcome::kStopped);
}

TEST(ChildRun, MemoryThatIsNotThereIsAReasonNotACrash) {
  const ChildEnd end = RunInChild(
      "p", []() -> ProbeResult { throw std::bad_alloc(); }, 60, kNeverStopped);
  EXPECT_EQ(end.outcome, Outcome::kSkipped);
  EXPECT_THAT(end.line, HasSubstr("bad_alloc"));
}

TEST(ResultLine, IsJsonWhateverTheTextHolds) {
  const ProbeResult result{.probe = "a\"b\\c\n\xff", .reason = "\t"};
  EXPECT_EQ(Json::parse(LineOf(result))["result"]["probe"], "a\"b\\c??");
}

TEST(Suite, TheFastSetIsWithinItsBounds) {
  double seconds = 0;
  for (const ProbeKind& kind : NodeProbes()) seconds += kind.fast_s;
  EXPECT_LE(seconds, 20);
  EXPECT_EQ(FindProbe("nothing"), nullptr);
}

struct Ran {
  std::string out;
  int code;
};

Ran RunProgram(const std::string& arguments) {
  Ran ran{.out = "", .code = -1};
  std::FILE* pipe = popen((BuildFolder() + "/fathom-probe " + arguments).c_str(), "r");
  if (pipe == nullptr) return ran;
  for (int c; (c = std::fgetc(pipe)) != EOF;) ran.out += static_cast<char>(c);
  ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}

TEST(Program, PrintsALineForTheMachineAndEachProbe) {
  const Ran ran = RunProgram("--probes exact,gemm_fp32 --seconds 0.2");
  EXPECT_EQ(ran.code, 0);
  std::istringstream lines(ran.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_TRUE(Json::parse(line).contains("machine"));
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(Json::parse(line)["result"]["outcome"], "done");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(Json::parse(line)["result"]["probe"], "gemm_fp32");
  EXPECT_FALSE(std::getline(lines, line));
}

TEST(Program, TheGpusProgramHearsTheBoundOfMemory) {
  const std::string asked = "--gpu-program /bin/echo --probes gpu_clock ";
  EXPECT_THAT(RunProgram(asked + "--memory-mib 700").out, HasSubstr("--memory-mib 700"));
  EXPECT_THAT(RunProgram(asked).out, HasSubstr("--memory-mib 2048"));
}

TEST(Program, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(RunProgram("--probes gem 2>&1").code, 1);
  EXPECT_THAT(RunProgram("--probes gem 2>&1").out, HasSubstr("there is no probe 'gem'"));
  EXPECT_EQ(RunProgram("--seconds -1 2>&1").code, 1);
  EXPECT_EQ(RunProgram("extra 2>&1").code, 1);
}

}  // namespace
}  // namespace fathom::kernels
