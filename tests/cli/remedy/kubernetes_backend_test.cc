// What the Kubernetes back-end does to a job, its pods and nodes, and what it leaves alone, with an
// API server in memory. Over the wire, with TLS and rights, it is tested in tests/integration, and
// with a real API server in tests/kubernetes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/cli/remedy/backend/kubernetes_backend.h"
#include "collector/cli/text/text.h"
#include "collector/kubernetes/node_hold.h"
#include "tests/cli/remedy/fake_api.h"

namespace fathom::cli {
namespace {

using kubernetes::WorkloadKind;
using ::testing::HasSubstr;
using Where = std::multiset<std::string>;

const Remedy kMoved{
    .id = "r1", .job = "train", .sick = "n1", .spare = "n3", .checkpoint = "", .sick_pids = {}};
const std::vector<std::string> kNodes = {"n1", "n2", "n3"};

struct Forward final : collector::HttpTransport {
  explicit Forward(FakeApi& to) : api(to) {}
  absl::StatusOr<collector::HttpAnswer> Send(const collector::HttpCall& call) override {
    return api.Send(call);
  }
  FakeApi& api;
};

// A job of two pods on n1 and n2; n3 is free. Time passes in pauses alone.
struct Bench {
  explicit Bench(WorkloadKind kind = WorkloadKind::kJob, KubernetesRemedyOptions options = {},
                 std::vector<std::string> nodes = kNodes)
      : api({kind, "default", "train"}, 2, nodes),
        backend(With(options, kind), std::make_unique<Forward>(api),
                {[this](std::chrono::milliseconds time) {
                   now = now + Nanos(std::chrono::nanoseconds(time).count());
                   return true;
                 },
                 [this] { return now; }}) {}
  static KubernetesRemedyOptions With(KubernetesRemedyOptions options, WorkloadKind kind) {
    options.server = "https://api:6443";
    options.kind = kind;
    return options;
  }
  Deed DeedOf(Step step, int attempt = 0) {
    const auto before = backend.Before(kMoved, step);
    EXPECT_TRUE(before.ok()) << before.status();
    return {step, attempt, before.ok() ? *before : Json::object()};
  }
  // As the run does it; what it said.
  std::string Do(const Deed& deed) {
    const auto done = backend.Do(kMoved, deed);
    return done.ok() ? *done : Cat("failed: ", Message(done.status()));
  }
  Extent HowFar(const Deed& deed) {
    const auto far = backend.HowFar(kMoved, deed);
    EXPECT_TRUE(far.ok()) << far.status();
    return far.ok() ? *far : Extent::kNone;
  }
  int Asked(const std::string& start) const {
    return static_cast<int>(
        std::count_if(api.asked.begin(), api.asked.end(), [&](const auto& each) {
          return each.starts_with(start) && each.find("dryRun") == each.npos;
        }));
  }

  MonoNs now{1};
  FakeApi api;
  KubernetesRemedy backend;
};

// Answers a method on what `path` ends with, once.
auto Once(const char* method, std::string path, std::function<void()> then, int status = -1) {
  return [=, done = false](
             const collector::HttpCall& call) mutable -> std::optional<collector::HttpAnswer> {
    if (done || call.method != method || !call.url.ends_with(path)) return std::nullopt;
    done = true;
    then();
    if (status < 0) return std::nullopt;
    return collector::HttpAnswer{status, "no", 0};
  };
}

TEST(KubernetesRemedy, MovesEachKindBySuspendingIt) {
  for (const auto kind : {WorkloadKind::kJob, WorkloadKind::kJobSet, WorkloadKind::kPyTorchJob}) {
    Bench bench(kind);
    ASSERT_TRUE(bench.backend.Check(kMoved).ok()) << bench.backend.Check(kMoved);
    EXPECT_EQ(bench.Asked("PATCH") + bench.Asked("DELETE"), 0) << "a check changes nothing";
    EXPECT_THAT(bench.Do(bench.DeedOf(Step::kStandby)), HasSubstr("n3 takes pods and has room"));
    const Deed isolate = bench.DeedOf(Step::kIsolate);
    EXPECT_EQ(bench.HowFar(isolate), Extent::kNone);
    EXPECT_THAT(bench.Do(isolate), HasSubstr("n1 is cordoned"));
    EXPECT_EQ(bench.HowFar(isolate), Extent::kAll);
    EXPECT_TRUE(bench.api.Suspended() && bench.api.Cordoned("n1") && bench.api.Where().empty());
    const Deed restart = bench.DeedOf(Step::kRestart, 1);
    EXPECT_EQ(bench.HowFar(restart), Extent::kNone);
    EXPECT_THAT(bench.Do(restart), HasSubstr("was resumed"));
    EXPECT_EQ(bench.HowFar(restart), Extent::kAll);
    EXPECT_EQ(bench.api.Where(), (Where{"n2", "n3"}));
    EXPECT_EQ(kubernetes::MarkOf(bench.api.Job()), "r1/restart-1");
  }
}

TEST(KubernetesRemedy, DeletesPodsWhereSuspendingIsNotWanted) {
  Bench bench(WorkloadKind::kJob, {.suspend = false});
  ASSERT_TRUE(bench.backend.Check(kMoved).ok()) << bench.backend.Check(kMoved);
  const Deed isolate = bench.DeedOf(Step::kIsolate);
  EXPECT_EQ(bench.HowFar(isolate), Extent::kNone);
  EXPECT_THAT(bench.Do(isolate), HasSubstr("has no pod on it"));
  EXPECT_EQ(bench.HowFar(isolate), Extent::kAll);
  EXPECT_EQ(bench.api.Where(), (Where{"n2", "n3"}));
  EXPECT_FALSE(bench.api.Suspended());
  EXPECT_THAT(bench.Do(bench.DeedOf(Step::kRestart, 1)), HasSubstr("makes the pods anew"));
  const Deed again = bench.DeedOf(Step::kRestart, 2);
  EXPECT_EQ(bench.HowFar(again), Extent::kNone);
  EXPECT_THAT(bench.Do(again), HasSubstr("2 pods of job/train were deleted"));
  EXPECT_EQ(bench.HowFar(again), Extent::kAll);
  EXPECT_EQ(bench.Asked("DELETE"), 3);
}

TEST(KubernetesRemedy, ASecondRestartBeginsWithAnotherStop) {
  Bench bench;
  bench.Do(bench.DeedOf(Step::kIsolate));
  bench.Do(bench.DeedOf(Step::kRestart, 1));
  const Deed again = bench.DeedOf(Step::kRestart, 2);
  EXPECT_EQ(bench.HowFar(again), Extent::kNone);
  bench.api.pods_end = false;
  EXPECT_THAT(bench.Do(again), HasSubstr("2 pods of train have not ended"));
  EXPECT_EQ(bench.HowFar(again), Extent::kPart);
  bench.api.pods_end = true;
  EXPECT_THAT(bench.Do(again), HasSubstr("was resumed"));
  EXPECT_EQ(bench.HowFar(again), Extent::kAll);
  EXPECT_EQ(kubernetes::MarkOf(bench.api.Job()), "r1/restart-2");
}

TEST(KubernetesRemedy, UndoGivesNodeAndJobBackAndLeavesWhatIsNotOurs) {
  Bench bench;
  const Deed isolate = bench.DeedOf(Step::kIsolate);
  bench.Do(isolate);
  ASSERT_TRUE(bench.backend.Undo(kMoved, isolate).ok());
  EXPECT_FALSE(bench.api.Suspended() || bench.api.Cordoned("n1"));
  EXPECT_EQ(bench.api.Where(), (Where{"n1", "n2"}));
  EXPECT_EQ(kubernetes::MarkOf(bench.api.Job()), "");
  EXPECT_TRUE(bench.backend.Undo(kMoved, isolate).ok()) << "it may be asked for twice";

  Bench held;
  held.api.Node("n1")["spec"]["unschedulable"] = true;  // by somebody else, before
  held.api.Changed(held.api.Node("n1"));
  const Deed theirs = held.DeedOf(Step::kIsolate);
  held.Do(theirs);
  EXPECT_EQ(held.Asked("PATCH /api/v1/nodes"), 0);
  EXPECT_EQ(held.HowFar(theirs), Extent::kAll);
  EXPECT_THAT(*held.backend.Undo(kMoved, theirs), HasSubstr("stays cordoned"));
  EXPECT_TRUE(held.api.Cordoned("n1"));
  EXPECT_FALSE(held.api.Suspended());
}

TEST(KubernetesRemedy, AHarmlessRaceIsTriedAgainAndAForeignDeedLeftAlone) {
  Bench bench;
  const Deed isolate = bench.DeedOf(Step::kIsolate);
  bench.api.before = Once("PATCH", "/jobs/train", [&] { bench.api.Changed(bench.api.Job()); });
  EXPECT_THAT(bench.Do(isolate), HasSubstr("is suspended and has no pod"));
  EXPECT_EQ(bench.Asked("PATCH /apis/batch"), 2);

  Bench other;
  const Deed raced = other.DeedOf(Step::kIsolate);
  other.api.before = Once("PATCH", "/jobs/train", [&] {
    other.api.Job()["spec"]["suspend"] = true;
    other.api.Changed(other.api.Job());
  });
  EXPECT_THAT(other.Do(raced), HasSubstr("n1 is cordoned, but job/train is suspended by somebody"));
  EXPECT_EQ(other.HowFar(raced), Extent::kPart);
  EXPECT_THAT(*other.backend.Undo(kMoved, raced), HasSubstr("stays suspended: it is not by us"));
  EXPECT_FALSE(other.api.Cordoned("n1"));
  EXPECT_TRUE(other.api.Suspended());
}

TEST(KubernetesRemedy, SomebodyWhoCordonsMeanwhileKeepsTheNode) {
  Bench bench;
  const Deed isolate = bench.DeedOf(Step::kIsolate);
  bench.api.before = Once("PATCH", "/nodes/n1", [&] {
    bench.api.Node("n1")["spec"]["unschedulable"] = true;
    bench.api.Changed(bench.api.Node("n1"));
  });
  const auto done = bench.backend.Do(kMoved, isolate);
  EXPECT_TRUE(NothingChanged(done.status())) << done.status();
  EXPECT_THAT(std::string(done.status().message()), HasSubstr("cordoned already"));
  EXPECT_FALSE(bench.api.Suspended());
}

TEST(KubernetesRemedy, AMissingRightIsToldBeforeAnythingIsDone) {
  for (const char* path : {"/jobs/train?dryRun=All", "/nodes/n1?dryRun=All"}) {
    Bench bench;
    bench.api.before = Once(
        "PATCH", path, [] {}, 403);
    EXPECT_TRUE(absl::IsPermissionDenied(bench.backend.Check(kMoved))) << path;
  }
  Bench pods(WorkloadKind::kJob, {.suspend = false});
  pods.api.before = Once(
      "DELETE", "?dryRun=All", [] {}, 403);
  EXPECT_TRUE(absl::IsPermissionDenied(pods.backend.Check(kMoved)));
  EXPECT_EQ(pods.api.Where(), (Where{"n1", "n2"}));

  Bench taken;  // away after the check
  const Deed isolate = taken.DeedOf(Step::kIsolate);
  taken.api.before = Once(
      "PATCH", "/jobs/train", [] {}, 403);
  const auto done = taken.backend.Do(kMoved, isolate);
  EXPECT_FALSE(NothingChanged(done.status())) << "the node is cordoned";
  EXPECT_EQ(taken.HowFar(isolate), Extent::kPart);
  EXPECT_THAT(taken.Do(isolate), HasSubstr("is suspended and has no pod"));
}

TEST(KubernetesRemedy, ALostAnswerIsAskedForAndFound) {
  Bench bench;
  const Deed isolate = bench.DeedOf(Step::kIsolate);
  bench.api.loses_answers = true;
  const auto done = bench.backend.Do(kMoved, isolate);
  EXPECT_FALSE(NothingChanged(done.status()));
  EXPECT_EQ(bench.HowFar(isolate), Extent::kPart) << "cordoned, and the job runs";
  const auto further = bench.backend.Do(kMoved, isolate);
  EXPECT_FALSE(NothingChanged(further.status()));
  bench.api.loses_answers = false;
  EXPECT_EQ(bench.HowFar(isolate), Extent::kAll);
  bench.api.before = [](const collector::HttpCall&) { return collector::HttpAnswer{}; };
  EXPECT_TRUE(absl::IsUnavailable(bench.backend.HowFar(kMoved, isolate).status()));
  EXPECT_FALSE(bench.backend.Undo(kMoved, isolate).ok());
}

TEST(KubernetesRemedy, AJobThatIsGoneOrAnotherIsLeftAloneAndItsNodeIsLetGo) {
  Bench bench;
  const Deed isolate = bench.DeedOf(Step::kIsolate);
  bench.Do(isolate);
  const Deed restart = bench.DeedOf(Step::kRestart, 1);
  bench.api.Job()["metadata"]["uid"] = "another";
  EXPECT_THAT(bench.Do(restart), HasSubstr("made anew by somebody"));
  EXPECT_TRUE(bench.api.Suspended());
  bench.api.objects.erase(bench.api.job_path);
  EXPECT_TRUE(absl::IsNotFound(bench.backend.Before(kMoved, Step::kRestart).status()));
  EXPECT_THAT(*bench.backend.Undo(kMoved, isolate), HasSubstr("job/train is gone"));
  EXPECT_FALSE(bench.api.Cordoned("n1"));
  EXPECT_THAT(Message(bench.backend.Check(kMoved)), HasSubstr("job/train is gone"));
}

TEST(KubernetesRemedy, ASpareThatTakesNoPodsOrHasNoRoomIsNone) {
  const auto why = [](const std::function<void(FakeApi&)>& change) {
    Bench bench;
    change(bench.api);
    return Message(bench.backend.Check(kMoved));
  };
  EXPECT_THAT(why([](FakeApi& api) { api.Node("n3")["spec"]["unschedulable"] = true; }),
              HasSubstr("n3 cannot take the place of n1: it is cordoned"));
  EXPECT_THAT(
      why([](FakeApi& api) { api.Node("n3")["status"]["conditions"][0]["status"] = "Unknown"; }),
      HasSubstr("it is not ready"));
  EXPECT_THAT(why([](FakeApi& api) {
                api.Node("n3")["spec"]["taints"] = {{{"key", "other"}, {"effect", "NoSchedule"}}};
              }),
              HasSubstr("it has the taint other"));
  EXPECT_THAT(why([](FakeApi& api) { api.Node("n3")["status"]["allocatable"]["cpu"] = "5900m"; }),
              HasSubstr("of cpu 5.9 are free, 6 are asked for"));
  EXPECT_FALSE(why([](FakeApi& api) { api.objects.erase("/api/v1/nodes/n3"); }).empty());
  EXPECT_EQ(why([](FakeApi&) {}), "");
}

TEST(KubernetesRemedy, WithoutTheRightToListAllPodsRoomIsNotKnown) {
  Bench bench;
  bench.api.before = Once(
      "GET", "spec.nodeName%3Dn3", [] {}, 403);
  EXPECT_THAT(bench.Do(bench.DeedOf(Step::kStandby)),
              HasSubstr("whether it has room is not known"));
}

TEST(KubernetesRemedy, SaysWhichJobsItCannotStop) {
  const auto why = [](const std::function<void(FakeApi&)>& change, bool suspend = true) {
    Bench bench(WorkloadKind::kJob, {.suspend = suspend});
    change(bench.api);
    const std::string said = Message(bench.backend.Check(kMoved));
    EXPECT_EQ(bench.Asked("PATCH") + bench.Asked("DELETE"), 0);
    return said;
  };
  EXPECT_THAT(why([](FakeApi& api) { api.knows_suspend = false; }), HasSubstr("restart: pods"));
  EXPECT_THAT(
      why([](FakeApi& api) { api.Job()["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "q"; }),
      HasSubstr("Kueue"));
  EXPECT_THAT(why([](FakeApi& api) {
                api.Job()["spec"]["template"]["spec"]["tolerations"] = {{{"operator", "Exists"}}};
              }),
              HasSubstr("tolerates cordoned nodes"));
  EXPECT_THAT(why([](FakeApi& api) {
                api.Job()["status"]["conditions"] = {{{"type", "Failed"}, {"status", "True"}}};
              }),
              HasSubstr("has ended"));
  EXPECT_THAT(why([](FakeApi& api) { api.Job()["spec"]["suspend"] = true; }),
              HasSubstr("suspended by somebody else"));
  EXPECT_THAT(why([](FakeApi& api) { api.Job()["spec"]["backoffLimit"] = 0; }, false),
              HasSubstr("backoffLimit of 0"));
}

TEST(KubernetesRemedy, ANodeThatOthersAreToHoldIsNotTouched) {
  Bench bench(WorkloadKind::kJob, {.hold = false});
  EXPECT_THAT(Message(bench.backend.Check(kMoved)), HasSubstr("n1 is not cordoned"));
  bench.api.Node("n1")["spec"]["unschedulable"] = true;
  EXPECT_TRUE(bench.backend.Check(kMoved).ok());
  const Deed isolate = bench.DeedOf(Step::kIsolate);
  bench.api.Node("n1")["spec"]["unschedulable"] = false;
  EXPECT_THAT(bench.Do(isolate), HasSubstr("somebody has uncordoned n1"));
  EXPECT_EQ(bench.Asked("PATCH"), 0);
}

TEST(KubernetesPods, CountsAsTheSchedulerDoes) {
  EXPECT_DOUBLE_EQ(kubernetes::QuantityOf("1500m"), 1.5);
  EXPECT_DOUBLE_EQ(kubernetes::QuantityOf("16Gi"), 16.0 * (1 << 30));
  EXPECT_DOUBLE_EQ(kubernetes::QuantityOf("1e3"), 1000);
  EXPECT_DOUBLE_EQ(kubernetes::QuantityOf("2x"), 0);
  const auto pods = kubernetes::ReadPods(R"({"items":[{"metadata":{"name":"p"},"spec":{
      "overhead":{"cpu":"250m"},
      "containers":[{"resources":{"requests":{"cpu":"1","nvidia.com/gpu":"8"}}},
                    {"resources":{"requests":{"cpu":"500m"}}}],
      "initContainers":[{"resources":{"requests":{"cpu":"4"}}},
                        {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]},
      "status":{"phase":"Pending"}}]})");
  ASSERT_TRUE(pods.ok());
  EXPECT_DOUBLE_EQ(pods->at(0).requests.at("cpu"), 4.25);
  EXPECT_DOUBLE_EQ(pods->at(0).requests.at("nvidia.com/gpu"), 8);
  EXPECT_FALSE(kubernetes::ReadPods("<html>").ok());
}

}  // namespace
}  // namespace fathom::cli
