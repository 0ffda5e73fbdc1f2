// What the cause of a verdict is made of, as far as a capture of stacks tells: a function.
//
// Made by diagnosis/functions, kept beside the verdict by collector/verdict.
// Units: shares of the culprit's time, 0 to 1. Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_MODEL_DETAIL_H_
#define FATHOM_DIAGNOSIS_MODEL_DETAIL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "proto/types/time_units.h"

namespace fathom::diagnosis {

// A place in which a culprit spends more of its time than its peers.
struct HotFunction {
  std::string function;
  std::string file;  // a whole path, mostly
  std::uint32_t line = 0;
  double share = 0;
  double peers_share = 0;  // median of its peers'
};

struct Detail {
  HotFunction where;    // function empty: not known
  std::string missing;  // why it is not, once a capture was made
  std::string doing;    // what the thread does there: "running", "sleep", "lock"; empty: not known
  double of_loss = 0;   // so much of what the job loses the function holds; 0: not known
  bool in_workers = false;  // of its data loader: the shares are of their time
  bool beside = false;      // in another thread of its process
  double doing_share = 0, doing_peers_share = 0;
  std::vector<HotFunction> functions;  // most beyond the peers first
  std::size_t peers = 0;
  bool traced = false;        // each call was recorded, none sampled
  std::uint64_t samples = 0;  // of the culprit's stack
  Nanos lasted;               // the capture

  bool known() const { return !where.function.empty(); }
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_DETAIL_H_
