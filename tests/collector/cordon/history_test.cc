// 10,000 random histories of verdicts, people's actions, lost answers, crashes and full disks, with
// every cap and every promise checked against the cluster itself at each change.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "collector/cordon/actuator.h"
#include "tests/collector/cordon/fake_cluster.h"

namespace fathom::cordon {
namespace {

constexpr int kHistories = 10'000;
constexpr int kLooks = 60;

class WorldClock final : public collector::Clock {
 public:
  WallNs Wall() const override { return wall; }
  MonoNs Mono() const override { return mono; }
  Nanos ThreadCpu() const override { return Nanos(); }
  WallNs wall{1'700'000'000'000'000'000};
  MonoNs mono{1'000'000'000'000};
};

class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    SetUpLimits();
    SetUpNodes();
    cluster_.fault = [this] { return DrawFault(); };
    cluster_.on_hold_asked = [this](const Hold& hold) { CheckHold(hold); };
    cluster_.on_change = [this] { CheckCaps(); };
    Start();
  }

  void Live() {
    for (int i = 0; i < kLooks; ++i) {
      PassTime();
      ChangeVerdicts();
      PeopleAct();
      faulty_ = Chance(0.3);
      cluster_.down = Chance(0.05);
      advice_down_ = Chance(0.05);
      disk_full_ = Chance(0.05);
      nobody_told_ = Chance(0.05);
      if (Chance(0.03)) Start();
      Guarded([this] { actuator_->Look(); });
      CheckCaps();
    }
  }

  // People want everything back; whether paused or tripped must not matter.
  void UndoAll() {
    faulty_ = cluster_.down = advice_down_ = disk_full_ = nobody_told_ = false;
    if (Chance(0.5)) Command(RecordKind::kPaused);
    for (VerdictFact& verdict : verdicts_) verdict.open = false;
    for (int round = 0; round < 12; ++round) {
      for (const Action& action : actuator_->Stand().actions) {
        if (action.Holds()) actuator_->Undo(action.id, "ann").IgnoreError();
      }
      Pass(15);
      actuator_->Look();
    }
    for (const auto& [name, node] : cluster_.nodes) EXPECT_EQ(node.owner, "") << name;
    for (const auto& [name, reason] : foreign_) EXPECT_EQ(cluster_.nodes[name].note, reason);
    EXPECT_EQ(cluster_.on_foreign, 0);
  }

  const FakeCluster& cluster() const { return cluster_; }

 private:
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }
  int Draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(Draw(0, static_cast<int>(from.size()) - 1))];
  }

  void SetUpLimits() {
    limits_.groups[0].mode = static_cast<Mode>(Draw(0, 3));
    if (Chance(0.5)) limits_.groups[0].mode = Mode::kAuto;
    limits_.min_age_s = Draw(0, 100);
    limits_.second_look_s = Draw(0, 40);
    limits_.max_nodes = Draw(0, 5);
    limits_.max_ratio = Draw(1, 9) * 0.1;
    limits_.max_per_window = Draw(1, 4);
    limits_.window_s = Draw(60, 900);
    limits_.min_spacing_s = Draw(0, 200);
    limits_.min_available_per_partition = Draw(0, 7) * 0.1;
    limits_.min_available_per_job = Draw(0, 7) * 0.1;
    limits_.override_cooloff_s = Draw(0, 1000);
    limits_.approval_ttl_s = Draw(30, 400);
    limits_.breaker_suspects = Draw(3, 8);
    limits_.auto_undo = Chance(0.3);
    limits_.undo_delay_s = Draw(0, 60);
    limits_.sight_gap_s = 3600;
  }

  void SetUpNodes() {
    const int count = Draw(4, 10);
    for (int i = 0; i < count; ++i) {
      const std::string name = "n" + std::to_string(i);
      cluster_.nodes[name] = {
          name, false, true, "", "", Chance(0.3) ? "rack1" : "", {i % 2 == 0 ? "even" : "odd"}};
      names_.push_back(name);
    }
  }

  // A new process: what it knows is the log.
  void Start() {
    Ledger ledger;
    for (const Record& record : log_) ledger.Fold(record);
    actuator_ = std::make_unique<Actuator>(
        limits_, std::move(ledger),
        Actuator::Parts{[this](View& view) { return Advise(view); }, cluster_,
                        [this](const Record& record) { return Append(record); },
                        [this](const collector::Notice&) {
                          return nobody_told_ ? absl::UnavailableError("no") : absl::OkStatus();
                        },
                        clock_});
    since_start_ = clock_.mono;
    if (jumped_) windows_hold_ = false;
  }

  template <typename F>
  void Guarded(F deed) {
    try {
      deed();
    } catch (const Crash&) {
      Start();
    }
  }

  absl::Status Advise(View& view) {
    if (advice_down_) return absl::UnavailableError("no collector");
    view.verdicts = verdicts_;
    view.verdicts_known = true;
    view.job_nodes = {{"job", {"n0", "n1", "n2", "n3"}}};
    return absl::OkStatus();
  }

  absl::Status Append(const Record& record) {
    if (disk_full_) return absl::ResourceExhaustedError("no space left");
    if (faulty_ && Chance(0.02)) throw Crash();
    log_.push_back(record);
    if (record.kind == RecordKind::kTripped) tripped_ = true;
    if (record.kind == RecordKind::kReset) tripped_ = false;
    if (record.kind == RecordKind::kPaused) paused_ = true;
    if (record.kind == RecordKind::kResumed) paused_ = false;
    if (record.kind == RecordKind::kApproved) approved_[record.action] = clock_.mono;
    if (faulty_ && Chance(0.02)) throw Crash();
    return absl::OkStatus();
  }

  FakeCluster::Fault DrawFault() {
    return faulty_ ? static_cast<FakeCluster::Fault>(Draw(0, 6)) : FakeCluster::Fault::kNone;
  }

  void Pass(int seconds) {
    const Nanos step{seconds * 1'000'000'000LL};
    clock_.mono = clock_.mono + step;
    clock_.wall = clock_.wall + step;
    cluster_.Advance(clock_.mono);
  }

  void PassTime() {
    Pass(Draw(1, 40));
    if (!Chance(0.003)) return;
    clock_.wall = clock_.wall + Nanos{Draw(-7200, 7200) * 1'000'000'000LL};
    jumped_ = true;
    windows_hold_ = false;  // what the log's wall times say is no longer comparable
  }

  void ChangeVerdicts() {
    if (Chance(0.3) && verdicts_.size() < 20) {
      VerdictFact v{"v" + std::to_string(next_++),
                    Pick<std::string>({"job", "j1", "j2", "j3", "j4"}),
                    Chance(0.8) ? "established" : "supported",
                    Pick<std::string>({"compute_slow", "host_slow", "memory_slow", "compute_slow",
                                       "host_slow", "compute_slow", "link_slow", "imbalance"}),
                    Chance(0.85) ? "rank" : "group",
                    "rank 1",
                    Chance(0.95) ? Pick(names_) : "",
                    "sentence",
                    true,
                    ""};
      established_[v.id] = clock_.mono;
      verdicts_.push_back(v);
    }
    for (VerdictFact& v : verdicts_) {
      if (v.open && Chance(0.05)) {
        v.open = false;
        v.closed_because = Chance(0.5) ? "no longer supported" : "recovered";
      }
    }
  }

  void PeopleAct() {
    if (Chance(0.1)) {
      const std::string& name = Pick(names_);
      if (Chance(0.5)) {
        cluster_.Drain(name, "ops: disk");
        foreign_[name] = "ops: disk";
      } else {
        cluster_.Free(name);
        foreign_.erase(name);
      }
    }
    for (const Action& action : actuator_->Stand().actions) {
      if (action.phase == Phase::kAdvised && Chance(0.2)) Approve(action.id);
      if (action.phase == Phase::kActed && Chance(0.02)) {
        Guarded([&] { actuator_->Undo(action.id, "ann").IgnoreError(); });
      }
    }
    if (Chance(0.02)) Command(RecordKind::kPaused);
    if (Chance(0.2)) Command(RecordKind::kResumed);
    if (Chance(0.15)) Command(RecordKind::kReset);
  }

  void Approve(const std::string& id) {
    Guarded([&] { actuator_->Approve(id, "ann").IgnoreError(); });
  }

  void Command(RecordKind kind) {
    Guarded([&] { actuator_->Command(kind, "because", "ann").IgnoreError(); });
  }

  void CheckHold(const Hold& hold) {
    EXPECT_FALSE(paused_);
    EXPECT_FALSE(tripped_);
    EXPECT_FALSE(nobody_told_);
    ASSERT_FALSE(log_.empty());
    EXPECT_EQ(log_.back().kind, RecordKind::kIntended);
    EXPECT_EQ(log_.back().action, hold.action);
    const auto at = std::find_if(verdicts_.begin(), verdicts_.end(),
                                 [&](const VerdictFact& v) { return v.id == hold.episode; });
    ASSERT_NE(at, verdicts_.end());
    EXPECT_TRUE(at->open && at->grade == "established" && at->node == hold.node);
    EXPECT_TRUE(IsNodeCause(at->cause) && IsNodeEntity(at->entity_type));
    const MonoNs first = std::max(established_[hold.episode], since_start_);
    EXPECT_GE(clock_.mono - first, Nanos::FromSeconds(limits_.min_age_s));
    EXPECT_GE(limits_.groups[0].mode, Mode::kApprove);
    EXPECT_TRUE(limits_.groups[0].mode == Mode::kAuto || approved_.contains(hold.action));
    CheckSharesBefore(hold.node);
  }

  void CheckSharesBefore(const std::string& node) {
    for (const std::string& partition : cluster_.nodes[node].partitions) {
      int total = 0, available = 0;
      for (const auto& [name, fact] : cluster_.nodes) {
        if (fact.partitions[0] != partition) continue;
        ++total;
        available += fact.available();
      }
      EXPECT_GE(available - 1, std::ceil(limits_.min_available_per_partition * total - 1e-9));
    }
  }

  void CheckCaps() {
    int ours = 0;
    for (const auto& [name, node] : cluster_.nodes) ours += !node.owner.empty();
    EXPECT_LE(ours, limits_.max_nodes);
    EXPECT_LE(ours, std::floor(limits_.max_ratio * static_cast<double>(cluster_.nodes.size())));
    const auto& at = cluster_.held_at;
    if (!windows_hold_ || at.empty()) return;
    // A change may arrive `lateness` after it was asked for, so two may lie that much closer.
    const Nanos slack = cluster_.lateness + Nanos{40'000'000'000};
    int recent = 0;
    for (const MonoNs each : at) {
      recent += at.back() - each + slack < Nanos::FromSeconds(limits_.window_s);
    }
    EXPECT_LE(recent, limits_.max_per_window);
    if (at.size() < 2) return;
    EXPECT_GE(at.back() - at[at.size() - 2] + slack, Nanos::FromSeconds(limits_.min_spacing_s));
  }

  std::mt19937_64 random_;
  Limits limits_;
  WorldClock clock_;
  FakeCluster cluster_;
  std::vector<std::string> names_;
  std::vector<Record> log_;
  std::unique_ptr<Actuator> actuator_;
  std::vector<VerdictFact> verdicts_;
  std::map<std::string, MonoNs> established_, approved_;
  std::map<std::string, std::string> foreign_;
  MonoNs since_start_;
  int next_ = 0;
  bool faulty_ = false, advice_down_ = false, disk_full_ = false, nobody_told_ = false;
  bool paused_ = false, tripped_ = false, jumped_ = false, windows_hold_ = true;
};

TEST(HistoryTest, CapsHoldNothingForeignIsTouchedAndAllCanBeUndone) {
  int held = 0, released = 0, histories_with_a_hold = 0;
  for (int seed = 0; seed < kHistories; ++seed) {
    World world(static_cast<std::uint64_t>(seed));
    world.Live();
    world.UndoAll();
    held += world.cluster().held;
    released += world.cluster().released;
    histories_with_a_hold += world.cluster().held > 0;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  std::printf("%d histories: %d holds, %d releases, %d with a hold\n", kHistories, held, released,
              histories_with_a_hold);
  // The checks above mean nothing in a world where nothing ever happens.
  EXPECT_GT(histories_with_a_hold, kHistories / 5);
  EXPECT_GT(released, 0);
}

}  // namespace
}  // namespace fathom::cordon
