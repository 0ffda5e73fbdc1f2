// Which ranks do the same work, and how long each took by itself in every iteration.
//
// Used by diagnosis/ledger, watch/peer_look and slowness/rules/imbalance. Model: two ranks have one
// role if they enter the same ops as often: kind, size and description of the communicator, for
// messages whether the other end has a higher or a lower number, unless they go round a ring
// (graph/rings), all of whose places are alike. How many bytes is left out: it is work, which may
// vary. Without rows the counts by communicator tell what they can. Own time is the iteration
// without what of it the rank was blocked on communication or waited for a core, who makes its
// batches included (model/rank_times). Where a device carries communication out and its kernels are
// not known, it is blocked while one of its communications is carried out; it computes for as much
// of its own time as its host stood still for it, for a host that waits may spin and so tells
// nothing by its processor time. Work is what of it can be counted.
//
// Units: seconds; work in its own unit, 0 where it is not known. Thread-safety: pure function.
// Errors: none; what is not known is NaN. Cost: O(rows + ranks × iterations).
#ifndef FATHOM_DIAGNOSIS_PEERS_PEERS_H_
#define FATHOM_DIAGNOSIS_PEERS_PEERS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/model/job_view.h"
#include "diagnosis/peers/outliers.h"

namespace fathom::diagnosis {

// What counts work: blocks of threads that its kernels ran, elements of the batches that it was
// given, bytes that it communicated; FLOP of its products of matrices, which a function of its own
// may make.
enum class WorkKind : std::uint8_t { kBlocks, kElements, kBytes, kProducts };
inline constexpr std::size_t kWorkKinds = 4;

// What one rank did in one iteration.
struct OwnPieces {
  double own = 0;   // without waiting for a core
  double wall = 0;  // with it
  double compute = 0;
  double gc = 0;
  double dataloader = 0;
  double stage_work = 0;                  // StageWorkOf
  std::array<double, kWorkKinds> work{};  // by WorkKind
  bool known = false;
};

struct Peers {
  std::vector<RankId> ranks;
  std::vector<std::size_t> role;               // by rank: an index of roles
  std::vector<Iteration> iterations;           // ascending
  std::vector<std::vector<OwnPieces>> pieces;  // by rank, then by iteration
  std::size_t roles = 0;
  bool on_device = false;  // compute is that of devices
  bool beside = false;     // own times are those of devices that communicate beside computing
};

// What of an iteration is the work of a rank's stage: not the wait for a core (a full machine must
// not pass for a design), nor collections of garbage and the preparation of batches, which a CPU
// spends its time on as well.
Nanos StageWorkOf(const RankIteration& rank);

// Of the newest `most` iterations of the window.
Peers PeersOf(const JobView& view, std::size_t most);

// Their own times, as outliers.h compares them. `iteration_s`: what an iteration takes.
OutlierTable OwnTimesOf(const Peers& peers, double iteration_s);

// The median over these iterations of the median over ranks; seconds.
double MedianIterationOf(const JobView& view, std::size_t most);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_PEERS_PEERS_H_
