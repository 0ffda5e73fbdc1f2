// Reads what `py-spy record --format speedscope` writes: each thread's samples in their order.
//
//   {"profiles":[{"samples":[[2,1,0],[2,3],…],"weights":[…],…},…],
//    "shared":{"frames":[{"name":"train","file":"/job/train.py","line":103,"col":null},…]},…}
//
// Used by sampled_stacks. A sample names its frames by their places, the outermost first. Of the
// rest nothing is looked at, nor what py-spy says to people before and after it. nlohmann's reader
// is told to hand over one thing after the other, so that no tree of the text is made.
//
// Thread-safety: pure. Errors: nullopt for what is not whole or not of this shape; the text comes
// from beside a process that is not trusted, so nesting and numbers are bounded. Cost: O(text).
#ifndef FATHOM_DAEMON_AGENT_CAPTURE_SPEEDSCOPE_TEXT_H_
#define FATHOM_DAEMON_AGENT_CAPTURE_SPEEDSCOPE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::agent {

struct SpeedscopeFrame {
  std::string name;
  std::string file;
  std::uint32_t line = 0;
};

using SpeedscopeSample = std::vector<std::uint32_t>;  // places in frames, all of them there

struct SpeedscopeText {
  std::vector<SpeedscopeFrame> frames;
  std::vector<std::vector<SpeedscopeSample>> threads;
};

std::optional<SpeedscopeText> ReadSpeedscope(std::string_view text);

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_CAPTURE_SPEEDSCOPE_TEXT_H_
