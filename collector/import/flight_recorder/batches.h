// Ops that PyTorch launches as one: `batch_isend_irecv` and coalesced collectives.
//
// Used by dump.cc. Model: within such a batch each op leaves an entry, which is never updated: it
// stays `scheduled` and not retired for ever. The entry `nccl:coalesced` closes the batch and
// carries the state of all of it. Parts and closing entry stand together and share their numbers
// (p2p_seq_id of sends and receives, else collective_seq_id).
//   - sends and receives: the parts take the state of the closing entry, which is dropped;
//   - collectives: the closing entry stays, as one op of unknown kind, and the parts are dropped.
// Parts behind which no closing entry stands are as open as they say: the rank is inside the batch.
// Dumps of open ops alone lack the closing entries of batches that ended; where such a dump lists
// one message kEnqueuedAhead times or more, its messages without a closing entry are parts of that
// kind and dropped.
//
// Thread-safety: pure. Errors: none; what is left out is in dump.notes. Cost: O(entries × log).
// Source: ProcessGroupNCCL (pointToPoint, endCoalescing) and FlightRecorder (retire_id) of PyTorch
// 2.1 to 2.10; its fr_trace groups them likewise.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_BATCHES_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_BATCHES_H_

#include "collector/import/flight_recorder/dump.h"

namespace fathom::collector::flight_recorder {

// More than a host that runs ahead of its device enqueues to one peer.
inline constexpr int kEnqueuedAhead = 16;

// Requires: entries in order of entry, with the state that each says itself.
void SettleBatches(Dump& dump);

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_BATCHES_H_
