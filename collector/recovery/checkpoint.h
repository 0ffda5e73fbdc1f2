// A checkpoint of a job, as far as a recovery asks: which step, how old, whether it is whole.
//
// Found by cli/recover/checkpoints, which says what is whole; chosen by recovery_plan. Units: wall
// ns. Thread-safety: plain values. Errors: none.
#ifndef FATHOM_COLLECTOR_RECOVERY_CHECKPOINT_H_
#define FATHOM_COLLECTOR_RECOVERY_CHECKPOINT_H_

#include <cstdint>
#include <string>

namespace fathom::collector {

struct Checkpoint {
  std::string path;
  std::int64_t step = 0;
  std::int64_t written_ns = 0;  // of what was written last in it
  std::string torn;             // why it is not whole; empty: it is
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_RECOVERY_CHECKPOINT_H_
