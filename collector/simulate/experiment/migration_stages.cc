#include "collector/simulate/experiment/migration_stages.h"

namespace fathom::simulate {
namespace {

// A restart at 8,192 GPUs took 6.47 min, of them 4.45 the framework: 35.1 % for the checkpoint,
// 24.5 % for communicators, 40.4 % for warm-up.
constexpr double kRestart = 6.47 * 60, kFramework = 4.45 * 60;
constexpr double kStart = kRestart - kFramework;
constexpr double kCheckpoint = 0.351 * kFramework;
constexpr double kWarmUp = 0.404 * kFramework;
// Communicators: some 50 s at 64 GPUs too; what grows between the two is taken as linear in ranks.
constexpr double kSmallRanks = 64, kSmall = 50, kLargeRanks = 8192, kLarge = 0.245 * kFramework;
constexpr double kEachRank = (kLarge - kSmall) / (kLargeRanks - kSmallRanks);
// Of a model of 5.12 T parameters: 221 s with Megatron, 47 % of it the checkpoint; 1.8 times less
// with a transfer from rank to rank instead; communicators 51 -> 7 s by two phases; 16 s in all
// with a shadow iteration.
constexpr double kMegatron = 221, kCheckpointShare = 0.47, kGain = 1.8;
constexpr double kTransfer = kMegatron / kGain - (1 - kCheckpointShare) * kMegatron;
constexpr double kSwitch = 7, kAll = 16;
constexpr double kLeftOfWarmUp = kAll - kTransfer - kSwitch;
// A first iteration of some 44 s was about six times as long as a usual one.
constexpr double kIteration = 44.0 / 6;

double Communicators(std::uint32_t ranks) {
  return kSmall + kEachRank * (static_cast<double>(ranks) - kSmallRanks);
}

std::vector<Stage> Prepared(std::uint32_t ranks) {
  return {{"start", kStart, false, "6.47 - 4.45 min at 8,192"},
          {"checkpoint", kCheckpoint, false, "35.1 % of 4.45 min at 8,192"},
          {"communicators, prepared", Communicators(ranks) - kSwitch, false,
           "as of a restart, less what the switch does"},
          {"shadow iteration", kWarmUp, false, "as warm-up"}};
}

void AppendSwitch(std::vector<Stage>& stages) {
  stages.push_back({"communicators, switched", kSwitch, true, "5.12 T: 51 -> 7 s"});
  stages.push_back({"state, rank to rank", kTransfer, true, "5.12 T: 221 s / 1.8, less the rest"});
  stages.push_back({"warm-up that is left", kLeftOfWarmUp, true, "5.12 T: 16 s in all"});
}

}  // namespace

std::vector<Stage> StagesOf(Way way, std::uint32_t ranks) {
  if (way == Way::kRestart) {
    return {{"start", kStart, true, "6.47 - 4.45 min at 8,192"},
            {"checkpoint", kCheckpoint, true, "35.1 % of 4.45 min at 8,192"},
            {"communicators", Communicators(ranks), true,
             "50 s at 64, 24.5 % of 4.45 min at 8,192; linear"},
            {"warm-up", kWarmUp, true, "40.4 % of 4.45 min at 8,192"}};
  }
  std::vector<Stage> stages = Prepared(ranks);
  AppendSwitch(stages);
  if (way == Way::kFailure) {
    stages.push_back({"work since the border, anew", kIteration / 2, true,
                      "half of 44 s / 6, an iteration at 64"});
  }
  return stages;
}

double StageSeconds(const std::vector<Stage>& stages, bool pauses) {
  double sum = 0;
  for (const Stage& stage : stages) sum += stage.pauses == pauses ? stage.seconds : 0;
  return sum;
}

double LostGpuHours(const std::vector<Stage>& stages, std::uint32_t ranks) {
  return StageSeconds(stages, true) * ranks / 3600;
}

}  // namespace fathom::simulate
