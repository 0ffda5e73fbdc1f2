// The serials of the blocks of ops that came lately, so that one that comes twice is known.
//
// Used by OpStore for what agents send again after a reconnection, and by collector/import/fathom
// for what an earlier collector had written without its agents hearing of it.
//
// Thread-safety: thread-compatible. Errors: none. Cost: O(kRemembered); eight bytes each, for each
// node.
#ifndef FATHOM_COLLECTOR_OPS_RECENT_SERIALS_H_
#define FATHOM_COLLECTOR_OPS_RECENT_SERIALS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace fathom::collector {

class RecentSerials {
 public:
  static constexpr std::size_t kRemembered = 256;

  // Whether the node has told of a block of this serial; from now on it has.
  bool Repeated(std::string_view node, std::uint64_t serial) {
    auto at = of_node_.find(node);
    if (at == of_node_.end()) at = of_node_.try_emplace(std::string(node)).first;
    std::deque<std::uint64_t>& serials = at->second;
    if (std::find(serials.begin(), serials.end(), serial) != serials.end()) return true;
    serials.push_back(serial);
    if (serials.size() > kRemembered) serials.pop_front();
    return false;
  }

 private:
  std::map<std::string, std::deque<std::uint64_t>, std::less<>> of_node_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_OPS_RECENT_SERIALS_H_
