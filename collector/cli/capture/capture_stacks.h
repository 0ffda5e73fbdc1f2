// The stacks of a capture as files that flame graph tools read.
//
// Used by the verb `profile`. Model: an object of /api/v1/jobs/JOB/capture?stacks=1.
//
//   rank_2.folded       <module> (train.py:127);train (train.py:103) 224
//   difference.folded   the same with two numbers, samples of the peers and of the rank that stands
//                       out, as difffolded.pl writes them; the peers' are their mean
//
// Thread-safety: pure but for WriteFolded. Errors: those of the disk.
// Cost: O(stacks × depth).
#ifndef FATHOM_COLLECTOR_CLI_CAPTURE_CAPTURE_STACKS_H_
#define FATHOM_COLLECTOR_CLI_CAPTURE_CAPTURE_STACKS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/cli/text/json_fields.h"

namespace fathom::cli {

using FramePath = std::vector<std::string>;      // outermost first
using PathShares = std::map<FramePath, double>;  // of a rank's samples, 0 to 1

struct StackDifference {
  std::int64_t rank = -1;  // that stands out, or the first; -1: no stacks
  PathShares mine;
  PathShares peers;  // mean over the others
  double samples = 0;
};

StackDifference DifferenceOf(const Json& capture);

std::string FoldedOf(const Json& rank);
std::string FoldedDifference(const StackDifference& difference);
// For speedscope.app: a profile a rank, over one table of frames.
std::string SpeedscopeOf(const Json& capture);

// Makes the folder; a file a rank, and difference.folded.
absl::Status WriteFolded(const Json& capture, const std::string& folder);
absl::Status WriteText(const std::string& path, const std::string& text);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_CAPTURE_CAPTURE_STACKS_H_
