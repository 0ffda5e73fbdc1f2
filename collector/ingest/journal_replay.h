// Takes in again what a journal has kept, so that jobs are as they were when it ended.
//
// Called by the collector at its start, before agents connect and the diagnoser runs.
//
// Model: the messages go the way of agents' messages, with their validation and their bounds, by
// who told them then. Where one began a new life of its job, it does again: who had been silent for
// how long is not known any more. A job whose end was reported is left out; the store has it. What
// was asked of agents (rows, windows, stacks) and their health are not kept: they tell again.
//
// Thread-safety: one thread. Errors: what is not taken is counted. Cost: that of the messages,
// some µs each.
#ifndef FATHOM_COLLECTOR_INGEST_JOURNAL_REPLAY_H_
#define FATHOM_COLLECTOR_INGEST_JOURNAL_REPLAY_H_

#include <cstdint>

#include "collector/job/state/job_table.h"
#include "collector/journal/journal.h"

namespace fathom::collector {

struct Replayed {
  std::uint64_t messages = 0, refused = 0;
};

Replayed ReplayJournal(Journal& journal, JobTable& jobs);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_INGEST_JOURNAL_REPLAY_H_
