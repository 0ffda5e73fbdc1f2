// The folders that a collector keeps what agents tell in: its journal and its store of ops.
//
// Used by Collector at its start. Without such a folder the collector goes on, as it does without
// its store; why is told to whoever asks whether it is well. Thread-safety: of one thread. Errors:
// in Opened. Cost: the journal is read.
#ifndef FATHOM_COLLECTOR_SERVE_OPENED_FOLDERS_H_
#define FATHOM_COLLECTOR_SERVE_OPENED_FOLDERS_H_

#include <functional>
#include <memory>
#include <string>

#include "collector/config/collector_config.h"
#include "collector/job/state/job_table.h"
#include "collector/journal/journal.h"
#include "collector/ops/op_store.h"
#include "collector/process/clock.h"

namespace fathom::collector {

template <typename Part>
struct Opened {
  std::unique_ptr<Part> part;  // null: there is to be none, or `why`
  std::string why;
};
using LogTo = std::function<void(bool error, const std::string& line)>;

// What it holds of jobs that run is in `jobs` then.
Opened<Journal> OpenJournalOf(const FinalizedCollectorConfig& config, JobTable& jobs,
                              const Clock& clock, const LogTo& log);
Opened<OpStore> OpenOpStoreOf(const FinalizedCollectorConfig& config, const Clock& clock,
                              const LogTo& log);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_SERVE_OPENED_FOLDERS_H_
