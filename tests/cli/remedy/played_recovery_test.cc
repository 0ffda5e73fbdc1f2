// 1,000 random histories of recoveries with crashes at each step, lost answers, full disks,
// verdicts that close and collectors that are away; each promise is checked at the moment of each
// deed.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "collector/cli/remedy/recovery_run.h"

namespace fathom::cli {
namespace {

constexpr int kHistories = 1'000;
constexpr int kRuns = 12;

struct Crash {};

class World final : public RemedyBackend {
 public:
  explicit World(int seed) : random_(static_cast<std::uint64_t>(seed)) {
    undo_impossible_ = Chance(0.1);
    blind_ = Chance(0.2);
    restart_helps_ = Chance(0.8);
  }

  // Runs `recover run` again and again, as a person would, until it is over one way or another.
  void Live() {
    for (int i = 0; i < kRuns && Outcome() != "recovered"; ++i) {
      DrawTroubles();
      const bool new_one = log_.empty() || !Outcome().empty();
      if (new_one && !log_.empty()) return;
      if (!undone_once_ && Chance(0.1)) {
        undone_once_ = true;
        Guarded([this] { Run().Undo().IgnoreError(); }, !log_.empty());
      } else {
        Guarded([&] { Recover(new_one); }, true);
      }
    }
  }

  void UndoAll() {
    trouble_ = 0;
    undone_once_ = true;
    closed_ = collector_away_ = disk_full_ = blind_ = false;
    if (log_.empty()) return;
    for (int round = 0; round < 4 && Outcome() != "undone"; ++round) {
      const absl::Status undone = Run().Undo();
      if (undone.ok()) break;
      said_why_ = std::string(undone.message());
    }
    if (runs_again_ || Outcome() == "recovered") {
      EXPECT_FALSE(said_why_.empty());
      return;
    }
    if (Outcome() == "undone") {
      EXPECT_FALSE(standby_ || held_ || isolated_);
    } else {
      EXPECT_NE(said_why_.find("it cannot be"), std::string::npos) << said_why_;
    }
  }

  std::string Outcome() const {
    RecoveryHistory history = Folded();
    const Recovery* last = history.Find();
    return last == nullptr ? "" : last->outcome;
  }
  std::string Story() const {
    std::string lines;
    for (const RecoveryRecord& record : log_) lines += RecordLine(record) + "\n";
    return lines;
  }
  int deeds() const { return deeds_; }
  int crashes() const { return crashes_; }

  // RemedyBackend.
  std::string Name() const override { return "world"; }
  absl::Status Check(const Remedy&) override { return absl::OkStatus(); }
  absl::StatusOr<Json> Before(const Remedy&, Step) override { return Json{{"seen", 1}}; }
  std::string ByHand(const Remedy&, const Deed&) const override { return "look"; }

  absl::StatusOr<std::string> Do(const Remedy& remedy, const Deed& deed) override {
    CheckDeed(remedy, deed);
    if (Trouble()) return absl::FailedPreconditionError("refused");
    MayCrash();
    const bool unclear = Trouble();
    if (deed.step == Step::kIsolate && (!unclear || Chance(0.7))) {
      held_ = true;
      MayCrash();
    }
    if (!unclear || Chance(0.5)) Take(deed);
    MayCrash();
    if (unclear) return absl::UnavailableError("the answer was lost");
    return "done";
  }
  absl::StatusOr<Extent> HowFar(const Remedy&, const Deed& deed) override {
    if (blind_ || Trouble()) return absl::UnavailableError("cannot tell");
    return TrueExtent({deed.step, deed.attempt});
  }
  absl::StatusOr<std::string> Undo(const Remedy&, const Deed& deed) override {
    if (undo_impossible_) return absl::FailedPreconditionError("it cannot be");
    MayCrash();
    if (deed.step == Step::kStandby) standby_ = false;
    if (deed.step == Step::kIsolate) {
      EXPECT_TRUE(!runs_again_ || collector_away_) << "a job that runs was moved back";
      held_ = isolated_ = runs_again_ = false;
    }
    MayCrash();
    if (Trouble()) return absl::UnavailableError("the answer was lost");
    return "undone";
  }

 private:
  bool Chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  bool Trouble() { return Chance(trouble_); }
  void MayCrash() {
    if (!Trouble()) return;
    ++crashes_;
    throw Crash();
  }

  Extent TrueExtent(StepKey key) {
    if (taken_[key] > 0) return Extent::kAll;
    return key.first == Step::kIsolate && held_ ? Extent::kPart : Extent::kNone;
  }

  void DrawTroubles() {
    trouble_ = Chance(0.7) ? 0.15 : 0;
    closed_ = Chance(0.15);
    other_culprit_ = Chance(0.05);
    collector_away_ = Chance(0.1);
    disk_full_ = Chance(0.1);
  }

  RecoveryHistory Folded() const {
    RecoveryHistory history;
    for (const RecoveryRecord& record : log_) history.Fold(record);
    return history;
  }

  RecoveryRun Run() {
    RecoveryRun::Limits limits;
    limits.restart_s = 5;
    limits.warm_s = 2;
    // A person looks, and is right.
    const RecoveryHistory history = Folded();
    if (const Recovery* last = history.Find(); last != nullptr) {
      for (const auto& [key, life] : last->steps) {
        static constexpr const char* kFound[] = {"not-done", "in-part", "done"};
        if (life.state == StepState::kInDoubt)
          limits.in_doubt = kFound[static_cast<int>(TrueExtent(key))];
      }
    }
    return RecoveryRun(history,
                       {.backend = *this,
                        .verdicts = [this] { return Verdicts(); },
                        .job = [this] { return Job(); },
                        .append = [this](const RecoveryRecord& record) { return Append(record); },
                        .wall_ns = [this] { return now_ns_; },
                        .pause =
                            [this](std::chrono::milliseconds time) {
                              now_ns_ += 1'000'000 * time.count();
                              return !Chance(trouble_ / 5);
                            },
                        .say = [](const std::string&) {}},
                       limits);
  }

  void Recover(bool new_one) {
    RecoveryRun run = Run();
    if (new_one && (closed_ || collector_away_ || other_culprit_)) return;
    if (new_one && !run.Begin("r1", {{"job", "train"},
                                     {"isolate", "n3"},
                                     {"spare", "n5"},
                                     {"verdict", "v1"},
                                     {"usual_s", 0.1}})
                        .ok())
      return;
    run.GoOn().IgnoreError();
  }

  template <typename F>
  void Guarded(F deed, bool wanted) {
    if (!wanted) return;
    try {
      deed();
    } catch (const Crash&) {
    }
  }

  absl::Status Append(const RecoveryRecord& record) {
    if (disk_full_) return absl::ResourceExhaustedError("no space left");
    MayCrash();
    log_.push_back(record);
    MayCrash();
    return absl::OkStatus();
  }

  absl::StatusOr<Json> Verdicts() const {
    if (collector_away_) return absl::UnavailableError("nobody answers");
    Json list = Json::array();
    if (!closed_)
      list.push_back({{"id", "v1"},
                      {"grade", "established"},
                      {"entity", {{"node", other_culprit_ ? "n1" : "n3"}}}});
    return Json{{"verdicts", list}};
  }

  absl::StatusOr<Json> Job() {
    if (collector_away_) return absl::UnavailableError("nobody answers");
    runs_again_ = runs_again_ || (isolated_ && restart_helps_ && Chance(0.3));
    if (runs_again_) ++iteration_;
    const char* third = runs_again_ ? "n5" : "n3";
    return Json{{"world_size", 2},
                {"iteration", iteration_},
                {"iteration_s", 0.1},
                {"rank_info",
                 {{{"rank", 0}, {"node", "n1"}, {"state", "running"}},
                  {{"rank", 1}, {"node", third}, {"state", "running"}}}}};
  }

  void CheckDeed(const Remedy& remedy, const Deed& deed) {
    EXPECT_EQ(remedy.sick, "n3");
    EXPECT_FALSE(collector_away_ || disk_full_);
    EXPECT_TRUE(deed.step == Step::kRestart || !(closed_ || other_culprit_));
    ASSERT_FALSE(log_.empty());
    EXPECT_EQ(log_.back().mark, Mark::kIntent);
    EXPECT_EQ(log_.back().step, deed.step);
    EXPECT_EQ(log_.back().facts, deed.before);
    const StepKey key{deed.step, deed.attempt};
    EXPECT_EQ(taken_[key], 0) << "done twice";
  }

  void Take(const Deed& deed) {
    ++deeds_;
    ++taken_[{deed.step, deed.attempt}];
    if (deed.step == Step::kStandby) standby_ = true;
    if (deed.step == Step::kIsolate) {
      EXPECT_TRUE(standby_) << "no spare is ready";
      held_ = isolated_ = true;
    }
  }

  std::mt19937_64 random_;
  std::vector<RecoveryRecord> log_;
  std::map<StepKey, int> taken_;
  std::string said_why_;
  std::int64_t now_ns_ = 1'790'000'000'000'000'000, iteration_ = 7;
  double trouble_ = 0;
  int deeds_ = 0, crashes_ = 0;
  bool closed_ = false, other_culprit_ = false, collector_away_ = false, disk_full_ = false;
  bool blind_ = false, undo_impossible_ = false, restart_helps_ = true, undone_once_ = false;
  bool standby_ = false, held_ = false, isolated_ = false, runs_again_ = false;
};

TEST(PlayedRecovery, NothingIsDoneTwiceNorOnAClosedVerdictAndAllIsUndoneOrSaysWhyNot) {
  int deeds = 0, crashes = 0, recovered = 0, given_up = 0, undone = 0;
  for (int seed = 0; seed < kHistories; ++seed) {
    World world(seed);
    world.Live();
    recovered += world.Outcome() == "recovered";
    given_up += world.Outcome() == "given up";
    world.UndoAll();
    undone += world.Outcome() == "undone";
    deeds += world.deeds();
    crashes += world.crashes();
    ASSERT_FALSE(testing::Test::HasFailure()) << "history " << seed << "\n" << world.Story();
  }
  std::printf("%d histories: %d deeds, %d crashes, %d recovered, %d given up, %d undone\n",
              kHistories, deeds, crashes, recovered, given_up, undone);
  // The checks mean nothing where nothing ever happens.
  EXPECT_GT(recovered, kHistories / 4);
  EXPECT_GT(given_up, 0);
  EXPECT_GT(undone, kHistories / 20);
  EXPECT_GT(crashes, kHistories / 4);
}

}  // namespace
}  // namespace fathom::cli
