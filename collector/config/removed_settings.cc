#include "collector/config/removed_settings.h"

#include <algorithm>
#include <iterator>

namespace fathom::collector {
namespace {

constexpr std::string_view kDiagnosis = "diagnosis.";

// Thresholds below `diagnosis:`, and the one that holds for each today; empty: none does.
struct Removed {
  std::string_view name;
  std::string_view instead;
};

constexpr Removed kRemoved[] = {
    {"alike_ratio", ""},
    {"always_late_few", ""},
    {"always_late_iterations", ""},
    {"always_late_ratio", ""},
    {"always_late_wait", ""},
    {"baseline_rows", "baseline_iterations"},
    {"chance_share", "consistent_share"},
    {"change_hazard", ""},
    {"change_probability", "supported_odds"},
    {"cpu_leads_share", "explains_share"},
    {"established_iterations", ""},
    {"established_odds", "supported_odds"},
    {"explained_share", "mostly_share"},
    {"function_share", "mostly_share"},
    {"guilty_share", "consistent_share"},
    {"heavy_stage_ratio", "slow_worker_ratio"},
    {"imbalance_iterations", "baseline_iterations"},
    {"imbalance_ratio", "peer_contrast"},
    {"imbalance_wait", "explains_share"},
    {"innocent_share", "explains_share"},
    {"irregular_rows", "baseline_iterations"},
    {"kernel_count_share", "delta"},
    {"kernel_peers", ""},
    {"length_pairs", "recorded_chance"},
    {"level_sigmas", "spike_sigmas"},
    {"line_share", ""},
    {"link_contrast", "link_factor"},
    {"link_paths", ""},
    {"most_chance", "consistent_share"},
    {"node_ranks", ""},
    {"noise_floor", "delta"},
    {"odd_group_iterations", ""},
    {"odd_group_ratio", ""},
    {"odd_group_siblings", ""},
    {"onset_slack", "min_irregular"},
    {"persistent_share", "consistent_share"},
    {"prior_host", "prior_rank"},
    {"prior_link", "prior_rank"},
    {"rank_shift_delta", "shift_delta"},
    {"rank_shift_job_sigmas", "shift_sigmas"},
    {"rank_shift_place_sigmas", "shift_sigmas"},
    {"rank_shift_sigmas", "shift_sigmas"},
    {"ranked_devices", ""},
    {"ranks_per_suspect", "all_ranks_up_to"},
    {"recent_window", "fluctuation_share"},
    {"recorded_always_late", ""},
    {"recorded_at_fault", "prior_rank"},
    {"recorded_baseline", ""},
    {"recorded_imbalance", "baseline_iterations"},
    {"recorded_irregular", ""},
    {"recorded_look_back", "learning_iterations"},
    {"recorded_odd_group", ""},
    {"regression_chance", "recorded_chance"},
    {"regression_established_chance", "recorded_chance"},
    {"regression_shared", "mostly_share"},
    {"replay_error", ""},
    {"settled_iterations", "baseline_iterations"},
    {"shared_decay", ""},
    {"shift_iterations", "baseline_iterations"},
    {"shift_noise", "delta"},
    {"stage_share", "mostly_share"},
    {"step_noise_floor", ""},
    {"straggling_slowdown", "slow_worker_ratio"},
    {"trailing_window", "learning_iterations"},
    {"unnamed_share", "mostly_share"},
    {"usual_samples", ""},
    {"wild_factor", ""},
};

}  // namespace

std::optional<std::string> RemovedSetting(std::string_view name) {
  if (!name.starts_with(kDiagnosis)) return std::nullopt;
  const std::string_view threshold = name.substr(kDiagnosis.size());
  const auto at = std::find_if(std::begin(kRemoved), std::end(kRemoved),
                               [&](const Removed& removed) { return removed.name == threshold; });
  if (at == std::end(kRemoved)) return std::nullopt;
  if (at->instead.empty()) return "nothing takes its place";
  return std::string("see ").append(kDiagnosis).append(at->instead);
}

}  // namespace fathom::collector
