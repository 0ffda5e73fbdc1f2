// What makes two runs of a training job comparable: who takes part, and what they send one another
// in an iteration.
//
// Made by collector/runs from what agents tell, kept with each run, compared before two runs are.
//
// Model: two runs are of one profile if their users gave both the same name, or none, and the shape
// is the same: program, kind of device, framework, number of ranks, and for each kind of
// communicator (by size) and collective how often an iteration calls it and with how many bytes, as
// rank 0 sees it. Counts and bytes may differ by kTolerance, for sequences and experts vary; all
// else must be equal. Versions, arguments and nodes are no part of it: they are what may have
// changed (run_setup.h). What the shape does not show, e.g. the batch of a data-parallel job, is
// told as a changed argument.
//
// Units: bytes and calls an iteration. Thread-safety: plain values, pure functions. Errors: none; a
// profile without work is not known and like no other. Cost: O(parts).
#ifndef FATHOM_DIAGNOSIS_HISTORY_JOB_PROFILE_H_
#define FATHOM_DIAGNOSIS_HISTORY_JOB_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/types/collective_kind.h"

namespace fathom::diagnosis {

// Calls of one kind on communicators of one size, in the median iteration.
struct WorkPart {
  std::uint32_t group_size = 0;
  CollectiveKind kind = CollectiveKind::kUnknown;
  double calls = 0;
  double bytes = 0;

  friend bool operator==(const WorkPart&, const WorkPart&) = default;
};

struct JobProfile {
  static constexpr double kTolerance = 0.1;

  std::string name;     // that the user gave; empty: none
  std::string program;  // file name of the script or executable
  std::string device;   // "NVIDIA H100", "cpu"
  std::string framework;
  std::uint32_t world_size = 0;
  std::vector<WorkPart> work;  // by group size and kind

  bool known() const { return world_size > 0 && !work.empty(); }
  friend bool operator==(const JobProfile&, const JobProfile&) = default;
};

// "p" and 12 hex digits: equal for profiles that agree in all that must be equal.
std::string ProfileId(const JobProfile& profile);

// What they differ in ("8 ranks instead of 4"); empty where they are of one profile.
std::string WhyOther(const JobProfile& profile, const JobProfile& other);

// "train.py, 4 ranks, torch on cpu: all_reduce 5 × 1.1 MB"
std::string ProfileInWords(const JobProfile& profile);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HISTORY_JOB_PROFILE_H_
