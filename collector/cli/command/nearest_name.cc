#include "collector/cli/command/nearest_name.h"

#include "collector/config/nearest.h"

namespace fathom::cli {

std::string NearestName(std::string_view typed, const std::vector<std::string>& names) {
  const std::string_view cut = typed.substr(0, 64);
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& name : names) {
    const std::size_t distance = collector::EditDistance(cut, name);
    if (distance * 2 <= name.size() && (best.empty() || distance < best_distance)) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace fathom::cli
