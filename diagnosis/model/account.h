// Where the time of a job went: what it used, what it would have needed, and whose the difference
// is. Kept for every job of which rows are at hand, sick or well.
//
// Made by diagnosis/ledger; collector/export turns it into `ledger` of fathom.v1.Report one to one.
//
// Model: all of the iterations that were played again (diagnosis/ledger/replay_lanes). `ideal`: all
// pieces take what their peers take. Shares and `unexplained_gpu_s` sum to `lost_gpu_s`.
//
// Units: GPU-seconds are seconds of all ranks together (of one device a rank).
// Thread-safety: plain values.
#ifndef FATHOM_DIAGNOSIS_MODEL_ACCOUNT_H_
#define FATHOM_DIAGNOSIS_MODEL_ACCOUNT_H_

#include <cstdint>
#include <vector>

#include "diagnosis/model/entity.h"
#include "proto/types/ids.h"

namespace fathom::diagnosis {

struct AccountShare {
  Entity entity;
  Cause cause = Cause::kUnknown;
  Owner owner = Owner::kOperations;
  double lost_gpu_s = 0;
  double gain_s_per_iteration = 0;   // that mending it alone wins back
  double alone_s_per_iteration = 0;  // that it would cost if all else were well
  bool hidden = false;               // it costs nothing: behind another, or behind overlap
  bool from_start = false;
  Iteration since{-1};
  Iteration until{-1};     // the last iteration in which it shows
  std::int64_t every = 0;  // iterations; 0: in all, or without a period
};

struct Account {
  std::int64_t iterations = 0;
  double measured_s = 0;  // what the iterations took
  double replayed_s = 0;  // what the replay of them as recorded takes
  double used_gpu_s = 0;
  double ideal_gpu_s = 0;
  double lost_gpu_s = 0;
  double unexplained_gpu_s = 0;
  std::vector<AccountShare> shares;  // the largest first; hidden ones last
};

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_ACCOUNT_H_
