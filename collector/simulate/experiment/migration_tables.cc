#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/simulate/experiment/migration_stages.h"
#include "collector/simulate/experiment/table_text.h"
#include "collector/simulate/experiment/tables.h"

namespace fathom::simulate {
namespace {

constexpr std::uint32_t kScales[] = {1024, 8192};

struct WayEntry {
  Way way;
  const char* name;
  const char* paper[2];  // seconds that the job stands, at kScales
};

constexpr WayEntry kWays[] = {
    {Way::kRestart, "restart", {"about 300", "388 (fitted)"}},
    {Way::kPlanned, "migration, planned", {"16.6, below 20", "–"}},
    {Way::kFailure, "migration, after a failure", {"21.1, below 30", "–"}}};

std::string OneDigit(double value) { return absl::StrFormat("%.1f", value); }

void PrintStages(const ExperimentOptions& options, const WayEntry& entry) {
  const auto small = StagesOf(entry.way, kScales[0]), large = StagesOf(entry.way, kScales[1]);
  for (std::size_t i = 0; i < small.size(); ++i) {
    PrintRow(options, {entry.name, small[i].name, small[i].pauses ? "stands" : "runs",
                       OneDigit(small[i].seconds), OneDigit(large[i].seconds), small[i].source});
  }
}

}  // namespace

void MigrationByScale(const ExperimentOptions& options) {
  PrintHeading(options, {"way", "stage", "the job", "s at 1,024", "s at 8,192", "from"});
  for (const WayEntry& entry : kWays) PrintStages(options, entry);
  options.print("\n");
  PrintHeading(options, {"way", "ranks", "beside the job, s", "the job stands, s", "TrainMover, s",
                         "GPU-hours"});
  for (const WayEntry& entry : kWays) {
    for (std::size_t i = 0; i < std::size(kScales); ++i) {
      const auto stages = StagesOf(entry.way, kScales[i]);
      PrintRow(options,
               {entry.name, absl::StrCat(kScales[i]), OneDigit(StageSeconds(stages, false)),
                OneDigit(StageSeconds(stages, true)), entry.paper[i],
                OneDigit(LostGpuHours(stages, kScales[i]))});
    }
  }
}

}  // namespace fathom::simulate
