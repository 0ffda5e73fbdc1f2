#include "collector/config/thresholds.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "collector/config/collector_config.h"
#include "collector/config/settings.h"

namespace fathom::collector {
namespace {

struct Range {
  const char* setting;
  double value;
  double low;
  double high;
};

// Every number: no threshold is negative or without bounds.
absl::Status CheckAll(const CollectorConfig& config) {
  const CollectorConfig defaults;
  for (const Setting& setting : Settings()) {
    double value = 0, usual = 0;
    const bool threshold = setting.name.rfind("diagnosis.", 0) == 0;
    if (!threshold || !absl::SimpleAtod(setting.get(config), &value)) continue;
    const bool may_be_off = absl::SimpleAtod(setting.get(defaults), &usual) && usual == 0;
    const double low = may_be_off ? 0 : 1e-9;
    if (auto status = CheckRange(setting.name.c_str(), value, low, 1e9); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRange(const char* setting, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(setting, ": ", value, " is not between ", low, " and ", high));
}

absl::Status CheckThresholds(const CollectorConfig& config) {
  if (auto status = CheckAll(config); !status.ok()) return status;
  const diagnosis::DiagnosisConfig& d = config.diagnosis;
  for (const Range& range :
       {Range{"diagnosis.delta", d.delta, 1.001, 100},
        Range{"diagnosis.baseline_iterations", static_cast<double>(d.baseline_iterations), 3, 1e4},
        Range{"diagnosis.min_irregular", static_cast<double>(d.min_irregular), 2, 1e4},
        Range{"diagnosis.stall_factor", d.stall_factor, 1, 1e6},
        Range{"diagnosis.stall_floor_s", d.stall_floor.Seconds(), 0.1, 86'400},
        Range{"diagnosis.learning_iterations", static_cast<double>(d.learning_iterations), 3, 500},
        Range{"diagnosis.fluctuation_share", d.fluctuation_share, 1e-3, 1},
        Range{"diagnosis.shift_delta", d.shift_delta, 1.0001, 100},
        Range{"diagnosis.shift_goes_on", d.shift_goes_on, 0.01, 1},
        Range{"diagnosis.explains_share", d.explains_share, 1e-6, 1},
        Range{"diagnosis.mostly_share", d.mostly_share, 1e-6, 1},
        Range{"diagnosis.consistent_share", d.consistent_share, 0.5, 0.999},
        Range{"diagnosis.supported_odds", d.supported_odds, 1, 1e6},
        Range{"diagnosis.peer_contrast", d.peer_contrast, 1, 1e6},
        Range{"diagnosis.link_factor", d.link_factor, 1, 1e6}}) {
    auto status = CheckRange(range.setting, range.value, range.low, range.high);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string UnreadInWords(const std::string& setting) {
  return absl::StrCat(setting, ": a setting of an earlier version, which is not read any more");
}

absl::StatusOr<diagnosis::DiagnosisConfig> ReadThresholds(const std::string& file,
                                                          std::vector<std::string>& unread) {
  CollectorConfig config;
  if (file.empty()) return config.diagnosis;
  Texts texts;
  if (auto status = LoadFile(file, texts); !status.ok()) return status;
  if (auto status = Apply(texts, file, config); !status.ok()) return status;
  if (auto status = CheckThresholds(config); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", status.message()));
  }
  unread = std::move(config.unread);
  return config.diagnosis;
}

}  // namespace fathom::collector
