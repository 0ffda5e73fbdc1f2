// What does a silent process do that others wait for? Part of rule hang. docs/rules/hang.md.
//
// Model: a rank outside of communication is either at work that will end (a checkpoint, an
// evaluation, the data loader) or it hangs. Its silence alone cannot tell; what its process does
// can, in this order:
//   frozen          by its control group
//   loading data    its Python source said so: slow, not hung
//   in a long step  its Python source said that it saves or loads a checkpoint, compiles, or
//                   collects garbage: slow, not hung
//   working         it reads and writes files, or touches new memory, or its stacks show it in many
//                   functions
//   helped          processes that it started do so, or compute: compilers, uploads
//   on storage      waits in the kernel for a file system or a disk, by the name of what it waits
//   in uninterruptible in the kernel (state D) for anything else looping         keeps a core busy,
//   or would if it got one, and touches nothing resting         in a timed sleep, or waiting for
//   input, for a process that it started, or for a
//                   thread of its own that works: somebody meant it, and it may end
//   blocked         sleeps on a lock or on anything else, and does nothing
// What it does is what it did lately (hang/recent_use.h). Each has a patience: how many times
// longer than an idle rank it may do nothing before a verdict on it is more than a hypothesis.
//
// Thread-safety: pure functions.
#ifndef FATHOM_DIAGNOSIS_HANG_LIVE_SUSPECT_H_
#define FATHOM_DIAGNOSIS_HANG_LIVE_SUSPECT_H_

#include <cstdint>
#include <string>

#include "diagnosis/model/config.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

enum class Occupation : std::uint8_t {
  kBlocked,
  kLooping,
  kFrozen,
  kUninterruptible,
  kResting,
  kOnStorage,
  kWorking,
  kHelped,
  kInLongStep,
  kLoadingData,
};

// It works, or said that it began what takes long and ends: the job is slow, not hung.
bool IsSlowOnly(Occupation occupation);

Occupation OccupationOf(const RankFacts& facts, const DiagnosisConfig& config);

// Factor on the time after which its silence counts as a hang.
double PatienceWith(Occupation occupation, const DiagnosisConfig& config);

// "is blocked on a lock (futex_wait_queue)": goes on after the rank's name.
std::string InWords(Occupation occupation, const RankFacts& facts);

// The numbers behind it, and what speaks against a hang, as evidence.
void DescribeSuspect(Occupation occupation, const RankFacts& facts, const DiagnosisConfig& config,
                     Verdict& verdict);

// "was killed by signal 9 (SIGKILL)", "exited with status 3"; empty if not known.
std::string EndInWords(const RankFacts& facts);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HANG_LIVE_SUSPECT_H_
