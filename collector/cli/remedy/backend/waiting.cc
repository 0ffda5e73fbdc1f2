#include "collector/cli/remedy/backend/waiting.h"

namespace fathom::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

}  // namespace

absl::StatusOr<bool> ComesToBe(const Waiting& waiting, double within_s,
                               const std::function<absl::StatusOr<bool>()>& look) {
  const MonoNs until = waiting.now() + Nanos::FromSeconds(within_s);
  while (true) {
    const bool last = waiting.now() >= until;
    const absl::StatusOr<bool> came = look();
    if (!came.ok() || *came) return came;
    if (last) return false;
    if (!waiting.pause(kBetweenLooks)) return absl::CancelledError("asked to stop");
  }
}

}  // namespace fathom::cli
