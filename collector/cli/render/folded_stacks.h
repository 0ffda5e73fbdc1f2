// Stacks of a verdict as folded stacks, the text that flame graph tools read: one line a cluster,
// its ranks as the root, frames from the outermost in, and how many ranks stand there.
//
//   ranks 0-1;main (job.py:90);share (job.py:70);all_reduce (torch.py:9) 2
//
// Used by `explain --stacks`. Thread-safety: pure function. Errors: none; no stacks are no lines.
#ifndef FATHOM_COLLECTOR_CLI_RENDER_FOLDED_STACKS_H_
#define FATHOM_COLLECTOR_CLI_RENDER_FOLDED_STACKS_H_

#include <string>

#include "collector/cli/render/verdict_view.h"

namespace fathom::cli {

std::string FoldedStacks(const VerdictView& verdict);

}  // namespace fathom::cli

#endif  // FATHOM_COLLECTOR_CLI_RENDER_FOLDED_STACKS_H_
