// What each rank of a simulated job does in an iteration, as a list of actions.
//
// Used by tests/diagnosis/job_player. Plain values and pure functions.
#ifndef FATHOM_TESTS_DIAGNOSIS_JOB_PROGRAM_H_
#define FATHOM_TESTS_DIAGNOSIS_JOB_PROGRAM_H_

#include <vector>

#include "diagnosis/model/job_view.h"
#include "tests/diagnosis/job_spec.h"

namespace fathom::diagnosis::testing {

struct Action {
  enum class What {
    kCompute,
    kSleep,
    kGc,
    kLoader,
    kEnter,    // a collective, not waited for
    kCall,     // a collective, waited for
    kWaitAll,  // for all entered and not waited for
    kSend,
    kRecv,
    kWaitSends,
    kPostRecv,  // not waited for
    kWaitRecvs,
    kHang,  // never returns
  };
  What what = What::kCompute;
  double ms = 0;
  std::size_t group = 0;  // index into the job's groups
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::uint64_t bytes = 0;
  std::uint32_t peer = 0;
};

using Program = std::vector<Action>;

std::vector<Group> GroupsOf(const JobSpec& spec);

// The program of one rank for one iteration, faults included.
Program ProgramOf(const JobSpec& spec, std::uint32_t rank, int iteration);

// What the rank's batch of that iteration holds; 0, so not counted, where no fault asks for more.
std::uint64_t BatchElements(const JobSpec& spec, std::uint32_t rank, int iteration);

}  // namespace fathom::diagnosis::testing

#endif  // FATHOM_TESTS_DIAGNOSIS_JOB_PROGRAM_H_
