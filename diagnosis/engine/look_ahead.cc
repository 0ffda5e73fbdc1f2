#include "diagnosis/engine/look_ahead.h"

#include <algorithm>
#include <cstddef>

namespace fathom::diagnosis {

DiagnosisConfig LookingAhead(DiagnosisConfig config) {
  --config.min_irregular;
  config.supported_odds *= config.chance_share();
  return config;
}

bool MayBeSlowSoon(const JobView& view, const Suspicion& suspicion, const DiagnosisConfig& config) {
  const auto least = static_cast<std::size_t>(std::max(2, config.min_irregular) - 1);
  const auto& irregular = suspicion.irregular;
  if (suspicion.slow || suspicion.stalled || irregular.size() < least) return false;
  return irregular[irregular.size() - least].index >= view.window[view.window.size() - least].index;
}

}  // namespace fathom::diagnosis
