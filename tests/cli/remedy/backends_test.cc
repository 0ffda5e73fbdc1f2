// What the back-ends do with answers of Slurm, of nodes and of commands; the real ones are tested
// in tests/integration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>

#include "collector/cli/remedy/backend/command_backend.h"
#include "collector/cli/remedy/backend/launcher_process.h"
#include "collector/cli/remedy/backend/placeholders.h"
#include "collector/cli/remedy/backend/remedy_config.h"
#include "collector/cli/remedy/backend/requeue_backend.h"
#include "collector/cli/remedy/backend/torchrun_backend.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

using collector::CommandResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const Remedy kRemedy{.id = "r1",
                     .job = "slurm-42",
                     .sick = "n3",
                     .spare = "n5",
                     .checkpoint = "/ckpt/step-7",
                     .sick_pids = {4711}};

// Time passes in pauses alone.
Waiting NoWaiting() {
  const auto now = std::make_shared<MonoNs>(1);
  return {[now](std::chrono::milliseconds time) {
            *now = *now + Nanos(std::chrono::nanoseconds(time).count());
            return true;
          },
          [now] { return *now; }};
}

std::string Text(const absl::Status& status) { return std::string(status.message()); }

// Answers commands in turn, and keeps what was asked.
struct Answers {
  std::deque<CommandResult> results;
  std::vector<std::string> asked;

  collector::CommandRunner Runner() {
    return [this](const std::vector<std::string>& argv, Nanos) -> absl::StatusOr<CommandResult> {
      asked.push_back(Join(argv, " "));
      if (results.empty()) return absl::DeadlineExceededError("no answer");
      const CommandResult next = results.front();
      results.pop_front();
      return next;
    };
  }
};

// A job of Slurm that answers scontrol.
struct FakeJob {
  std::string state = "RUNNING", excluded = "(null)", priority = "100", requeue = "1";
  int restarts = 0, changes = 0;

  collector::CommandRunner Runner() {
    return [this](const std::vector<std::string>& argv, Nanos) -> absl::StatusOr<CommandResult> {
      if (argv[1] == "show") {
        return CommandResult{
            0,
            Cat("JobId=42 JobName=a=b JobState=", state, " Reason=None Restarts=", restarts,
                " Requeue=", requeue, " Priority=", priority, " ExcNodeList=", excluded, "\n"),
            ""};
      }
      ++changes;
      if (argv[1] == "requeuehold") state = "PENDING", priority = "0", ++restarts;
      if (argv[1] == "requeue") state = "PENDING", ++restarts;
      if (argv[1] == "release") state = "RUNNING", priority = "100";
      if (argv[1] == "update") excluded = argv[3].substr(argv[3].find('=') + 1);
      return CommandResult{0, "", ""};
    };
  }
};

TEST(RequeueBackend, HoldsExcludesAndReleases) {
  FakeJob job;
  RequeueBackend backend({}, job.Runner(), NoWaiting());
  ASSERT_TRUE(backend.Check(kRemedy).ok());
  const auto before = backend.Before(kRemedy, Step::kIsolate);
  ASSERT_TRUE(before.ok());
  const Deed isolate{Step::kIsolate, 0, *before}, restart{Step::kRestart, 1, *before};
  EXPECT_EQ(*backend.HowFar(kRemedy, isolate), Extent::kNone);
  ASSERT_TRUE(backend.Do(kRemedy, isolate).ok());
  EXPECT_EQ(job.excluded, "n3");
  EXPECT_EQ(job.restarts, 1);
  EXPECT_EQ(*backend.HowFar(kRemedy, isolate), Extent::kAll);
  ASSERT_TRUE(backend.Do(kRemedy, restart).ok());
  EXPECT_EQ(job.state, "RUNNING");
  EXPECT_EQ(*backend.HowFar(kRemedy, restart), Extent::kAll);
  EXPECT_THAT(Text(backend.Undo(kRemedy, isolate).status()), HasSubstr("is running already"));
  EXPECT_EQ(job.excluded, "n3");
}

TEST(RequeueBackend, AJobThatIsHeldAlreadyIsNotRequeuedAgain) {
  FakeJob job;
  RequeueBackend backend({}, job.Runner(), NoWaiting());
  const Deed isolate{Step::kIsolate, 0, *backend.Before(kRemedy, Step::kIsolate)};
  job.state = "PENDING", job.priority = "0", job.restarts = 1;  // a crash came after the first half
  EXPECT_EQ(*backend.HowFar(kRemedy, isolate), Extent::kPart);
  ASSERT_TRUE(backend.Do(kRemedy, isolate).ok());
  EXPECT_EQ(job.restarts, 1);
  EXPECT_EQ(job.excluded, "n3");
  ASSERT_TRUE(backend.Undo(kRemedy, isolate).ok());
  EXPECT_EQ(job.excluded, "");
  EXPECT_EQ(job.state, "RUNNING");
}

TEST(RequeueBackend, UndoLetsAJobGoThatIsHeldAndExcludesNothing) {
  FakeJob job;
  RequeueBackend backend({}, job.Runner(), NoWaiting());
  const Deed isolate{Step::kIsolate, 0, *backend.Before(kRemedy, Step::kIsolate)};
  job.state = "COMPLETING";  // scontrol requeuehold has returned, Slurm is still at it
  EXPECT_EQ(*backend.HowFar(kRemedy, isolate), Extent::kPart);
  job.state = "PENDING", job.priority = "0", job.restarts = 1;
  ASSERT_TRUE(backend.Undo(kRemedy, isolate).ok());
  EXPECT_EQ(job.state, "RUNNING");
  EXPECT_EQ(job.excluded, "(null)") << "there was nothing to take off the list";
  EXPECT_TRUE(backend.Undo(kRemedy, isolate).ok()) << "may be called again";
}

TEST(RequeueBackend, UndoLeavesWhatOthersExcluded) {
  for (const auto& [before, now, after] :
       {std::tuple{"n1", "n1,n3,n9", "n1,n9"}, {"n3", "n3,n9", "n3,n9"}, {"", "n3", ""}}) {
    FakeJob job;
    RequeueBackend backend({}, job.Runner(), NoWaiting());
    job.excluded = before;
    const Deed isolate{Step::kIsolate, 0, *backend.Before(kRemedy, Step::kIsolate)};
    EXPECT_THAT(backend.ByHand(kRemedy, isolate), HasSubstr(Cat("ExcNodeList=", before, " (")));
    job.state = "PENDING", job.priority = "0", job.restarts = 1, job.excluded = now;
    ASSERT_TRUE(backend.Undo(kRemedy, isolate).ok());
    EXPECT_EQ(job.excluded, after);
  }
}

TEST(RequeueBackend, RefusesWhatCannotBeRequeued) {
  FakeJob job;
  RequeueBackend backend({}, job.Runner(), NoWaiting());
  job.requeue = "0";
  EXPECT_THAT(Text(backend.Check(kRemedy)), HasSubstr("--no-requeue"));
  job.requeue = "1", job.state = "PENDING";
  EXPECT_THAT(Text(backend.Check(kRemedy)), HasSubstr("does not run"));
  Remedy other = kRemedy;
  other.job = "train; rm -rf /";
  EXPECT_THAT(Text(backend.Check(other)), HasSubstr("is no job of Slurm"));
  EXPECT_EQ(job.changes, 0);
}

TEST(RequeueBackend, KeepsWhatWasExcludedBefore) {
  EXPECT_EQ(WithNode("(null)", "n3"), "n3");
  EXPECT_EQ(WithNode("n1,n3", "n3"), "n1,n3");
  EXPECT_EQ(WithNode("n30", "n3"), "n30,n3");
}

constexpr const char* kElastic =
    R"({"pid":99,"start":1234,"job":"slurm-42","nnodes":"4:4","max_restarts":3,"rdzv_backend":"c10d",
        "rdzv_endpoint":"n1:29400","shares_store":false,"hosts_rendezvous":false,
        "reached_rendezvous":true})";

TEST(TorchrunBackend, SaysWhyAStandbyCouldTakeNoPlace) {
  const Json good = Json::parse(kElastic);
  EXPECT_EQ(WhyNotElastic(good, "slurm-42"), "");
  EXPECT_THAT(WhyNotElastic(good, "other"), HasSubstr("it runs job slurm-42"));
  const std::vector<std::pair<const char*, std::pair<Json, const char*>>> flaws = {
      {"rdzv_backend", {"static", "c10d"}},
      {"max_restarts", {0, "--max-restarts"}},
      {"hosts_rendezvous", {true, "hosts the rendezvous"}},
      {"shares_store", {true, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1"}}};
  for (const auto& [field, flaw] : flaws) {
    Json launcher = good;
    launcher[field] = flaw.first;
    EXPECT_THAT(WhyNotElastic(launcher, "slurm-42"), HasSubstr(flaw.second)) << field;
  }
}

TEST(TorchrunBackend, StartsTheStandbyThenEndsTheSickOne) {
  Answers nodes{{{0, R"({"pid":1})", ""},
                 {0, R"({"reached_rendezvous":false})", ""},
                 {0, kElastic, ""},
                 {0, kElastic, ""},
                 {0, R"({"ended":true})", ""}},
                {}};
  TorchrunBackend backend({.on_node = {"ssh", "{node}"}, .start = {"/run.sh", "{node}", "{job}"}},
                          nodes.Runner(), NoWaiting());
  ASSERT_TRUE(backend.Do(kRemedy, {Step::kStandby, 0}).ok());
  const auto before = backend.Before(kRemedy, Step::kIsolate);
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(backend.Do(kRemedy, {Step::kIsolate, 0, *before}).ok());
  ASSERT_EQ(nodes.asked.size(), 5u);
  EXPECT_THAT(nodes.asked[0], HasSubstr("ssh n5 'fathom' 'recover' 'node' 'start'"));
  EXPECT_THAT(nodes.asked[0], HasSubstr("'--' '/run.sh' 'n5' 'slurm-42'"));
  EXPECT_THAT(nodes.asked[3], HasSubstr("ssh n3 'fathom' 'recover' 'node' 'look' '--pid' '4711'"));
  EXPECT_THAT(nodes.asked[4], HasSubstr("'stop' '--launcher' '99' '--start' '1234'"));
}

TEST(TorchrunBackend, AStandbyThatEndsIsAFailureAndANodeOutOfReachADoubt) {
  Answers nodes{{{0, R"({"pid":1})", ""}, {2, "", "fathom recover node: nothing runs\n"}}, {}};
  TorchrunBackend backend({.on_node = {}, .start = {"/run.sh"}}, nodes.Runner(), NoWaiting());
  EXPECT_TRUE(NothingChanged(backend.Do(kRemedy, {Step::kStandby, 0}).status()));
  nodes.results = {{255, "", "ssh: connect to host n5 port 22: No route to host\n"}};
  const auto away = backend.Do(kRemedy, {Step::kStandby, 0});
  EXPECT_FALSE(NothingChanged(away.status()));
  EXPECT_FALSE(backend.HowFar(kRemedy, {Step::kStandby, 0}).ok());
}

TEST(TorchrunBackend, ALauncherThatIsStillEndingWasEnded) {
  const CommandResult there{0, kElastic, ""}, gone{2, "", "fathom recover node: it has ended\n"};
  const Deed isolate{Step::kIsolate, 0, Json::parse(kElastic)};
  Answers nodes{{there, there, gone}, {}};
  TorchrunBackend backend({.on_node = {}, .start = {"/run.sh"}}, nodes.Runner(), NoWaiting());
  EXPECT_EQ(*backend.HowFar(kRemedy, isolate), Extent::kAll);
  nodes.results.assign(1'000, there);
  EXPECT_EQ(*backend.HowFar(kRemedy, isolate), Extent::kNone) << "it would be killed by now";
}

// Each look takes half a minute, as an ssh to a node that does not answer.
TEST(Waiting, CountsTheTimeOfLooks) {
  MonoNs now(1);
  int looks = 0;
  const Waiting slow{[](std::chrono::milliseconds) { return true; }, [&] { return now; }};
  const auto look = [&]() -> absl::StatusOr<bool> {
    ++looks;
    now = now + Nanos::FromSeconds(30);
    return false;
  };
  EXPECT_FALSE(*ComesToBe(slow, 120, look));
  EXPECT_EQ(looks, 5) << "and a last one";
  EXPECT_TRUE(absl::IsCancelled(
      ComesToBe({[](std::chrono::milliseconds) { return false; }, [&] { return now; }}, 120, look)
          .status()));
}

TEST(TorchrunBackend, AStandbyThatNeverAnswersIsWaitedForNoLongerThanWasSaid) {
  MonoNs now(1);
  int asked = 0;
  const collector::CommandRunner away = [&](const std::vector<std::string>& argv,
                                            Nanos limit) -> absl::StatusOr<CommandResult> {
    ++asked;
    if (Join(argv, " ").find(" start ") != std::string::npos) return CommandResult{0, "{}", ""};
    now = now + limit;
    return absl::DeadlineExceededError("no answer");
  };
  TorchrunBackend backend({.on_node = {}, .start = {"/run.sh"}, .ready_s = 60}, away,
                          {[](std::chrono::milliseconds) { return true; }, [&] { return now; }});
  EXPECT_FALSE(backend.Do(kRemedy, {Step::kStandby, 0}).ok());
  EXPECT_EQ(asked, 5) << "start, three looks, stop";
}

TEST(CommandBackend, PassesWordsAsTheyAreAndReadsExitCodes) {
  Answers shell{{{0, "left\n", ""}, {3, "", "in use\n"}, {7, "", "?\n"}, {1, "", ""}}, {}};
  CommandOptions options;
  options.steps[Step::kIsolate] = {"leave", "{sick}", "{job}; {step}"};
  options.look = {"look", "{step}"};
  CommandBackend backend(options, shell.Runner());
  EXPECT_EQ(*backend.Do(kRemedy, {Step::kIsolate, 0}), "left");
  EXPECT_EQ(shell.asked[0], "leave n3 slurm-42; isolate");
  EXPECT_TRUE(absl::IsFailedPrecondition(backend.Do(kRemedy, {Step::kIsolate, 0}).status()));
  EXPECT_FALSE(NothingChanged(backend.Do(kRemedy, {Step::kIsolate, 0}).status()));
  EXPECT_EQ(*backend.HowFar(kRemedy, {Step::kIsolate, 0}), Extent::kNone);
  EXPECT_TRUE(absl::IsFailedPrecondition(backend.Undo(kRemedy, {Step::kIsolate, 0}).status()));
  EXPECT_TRUE(backend.Do(kRemedy, {Step::kStandby, 0}).ok()) << "no command: nothing to do";
}

TEST(Placeholders, QuoteOnlyForAShell) {
  EXPECT_THAT(Behind({"srun", "-w", "n1"}, {"a b", "it's"}),
              ElementsAre("srun", "-w", "n1", "a b", "it's"));
  EXPECT_THAT(Behind({"/usr/bin/ssh", "n1"}, {"a b", "it's"}),
              ElementsAre("/usr/bin/ssh", "n1", "'a b'", "'it'\\''s'"));
  EXPECT_FALSE(CheckPlaceholders({"{nod}"}).ok());
  EXPECT_TRUE(CheckPlaceholders({"{node}", "{", "{}", "{A}"}).ok());
}

TEST(RemedyConfig, TakesWhatIsThereAndRefusesASlip) {
  const fs::path file = fs::temp_directory_path() / ("remedy_" + std::to_string(getpid()));
  const auto read = [&](const std::string& text) {
    std::ofstream(file) << text;
    const auto made = ReadRemedyConfig(file, {"fathom", Answers().Runner(), NoWaiting()});
    return made.ok() ? (*made)->Name() : Text(made.status());
  };
  EXPECT_EQ(read("backend: torchrun\nstart: [a, '{node}']\nstop_s: 5\n"), "torchrun");
  EXPECT_EQ(read("backend: slurm\nscontrol: [sudo, -n, scontrol]\n"), "slurm");
  EXPECT_EQ(read("backend: command\nisolate: [a]\nundo: [b]\n"), "command");
  EXPECT_THAT(read("backend: torchrun\nstrat: [a]\n"), HasSubstr("there is no key 'strat'"));
  EXPECT_THAT(read("backend: torchrun\nstart: a b\n"), HasSubstr("must be a list"));
  EXPECT_THAT(read("backend: torchrun\nstop_s: soon\n"), HasSubstr("seconds"));
  EXPECT_THAT(read("backend: command\nisolate: ['{nod}']\n"), HasSubstr("there is no {nod}"));
  EXPECT_THAT(read("backend: magic\n"), HasSubstr("slurm, kubernetes or command"));
  EXPECT_EQ(read("backend: kubernetes\nkubernetes_server: https://api:6443\nkind: JobSet\n"),
            "kubernetes");
  EXPECT_EQ(read("backend: kubernetes\nkubernetes_server: http://127.0.0.1:8001\nrestart: pods\n"),
            "kubernetes");
  EXPECT_THAT(read("backend: kubernetes\n"), HasSubstr("kubernetes_server is needed"));
  EXPECT_THAT(read("backend: kubernetes\nkubernetes_server: https://a:1\nkind: Pod\n"),
              HasSubstr("Job, JobSet or PyTorchJob"));
  EXPECT_THAT(read("backend: kubernetes\nkubernetes_server: https://a:1\nnode: keep\n"),
              HasSubstr("hold or held"));
  EXPECT_THAT(read("backend: kubernetes\nkubernetes_server: http://a:1\n"
                   "kubernetes_token_file: /t\n"),
              HasSubstr("https://"));
  EXPECT_THAT(read("backend: [\n"), HasSubstr(file.string()));
  fs::remove(file);
  EXPECT_THAT(read("- a\n"), HasSubstr("no map"));
  fs::remove(file);
}

TEST(LauncherProcess, IsStartedOnceFoundByItsTagAndEnded) {
  const std::string tag = Cat("test-", static_cast<std::int64_t>(getpid()));
  const std::vector<std::string> argv = {"/bin/sh",
                                         "-c",
                                         "trap '' TERM; sleep 60 & wait; wait",
                                         "torchrun",
                                         "--max_restarts=2",
                                         "--rdzv-endpoint",
                                         "n1:5"};
  const auto first = StartLauncher("/proc", tag, "/dev/null", argv);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto again = StartLauncher("/proc", tag, "/dev/null", argv);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->pid, first->pid);
  EXPECT_EQ(LauncherOf("/proc", first->pid)->pid, first->pid);
  const Json told = TellLauncher("/proc", *first);
  EXPECT_EQ(told["max_restarts"], 2);
  EXPECT_EQ(told["rdzv_endpoint"], "n1:5");
  EXPECT_TRUE(told["shares_store"]);
  EXPECT_TRUE(StopLauncher("/proc", *first, std::chrono::milliseconds(100)).ok());
  EXPECT_FALSE(StillThere("/proc", *first));
  EXPECT_TRUE(absl::IsNotFound(LauncherTagged("/proc", tag).status()));
  EXPECT_TRUE(StopLauncher("/proc", *first, std::chrono::milliseconds(0)).ok()) << "it is gone";
}

TEST(LauncherProcess, WhatCannotBeStartedIsSaid) {
  EXPECT_FALSE(StartLauncher("/proc", "none", "/dev/null", {"/nowhere/torchrun"}).ok());
  EXPECT_TRUE(absl::IsNotFound(LauncherOf("/proc", getpid()).status()));
}

}  // namespace
}  // namespace fathom::cli
