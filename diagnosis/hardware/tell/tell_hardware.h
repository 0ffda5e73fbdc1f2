// Asks what the hardware of the accused says, and puts it into their verdicts.
//
// Used by collector/evaluate on every diagnosis that names somebody. docs/rules/hardware.md.
//
// Model: for each rank that a verdict accuses (of a group or link: each node) the rules of
// hardware/rules look at its GPU and its node, against their own past and those of ranks that
// nobody accuses. The first finding that decides goes into the sentence, and may give the cause
// (memory_slow) and the entity (gpu); one that convicts makes a lead supported; all findings are
// evidence; readings that are as they should be are counter-evidence; a source that does not work
// is named in would_change.
//
// Thread-safety: pure. Errors: a verdict whose readings are missing stays as it is.
// Cost: O(verdicts × devices of the nodes handed in × points).
#ifndef FATHOM_DIAGNOSIS_HARDWARE_TELL_TELL_HARDWARE_H_
#define FATHOM_DIAGNOSIS_HARDWARE_TELL_TELL_HARDWARE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "diagnosis/model/hardware.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/verdict.h"

namespace fathom::diagnosis {

inline constexpr std::size_t kMostPeerNodes = 16;

// The nodes of the accused, and some of others to compare with. Empty: nobody is accused.
std::vector<std::string> HardwareNodesWanted(const JobView& view,
                                             const std::vector<Verdict>& verdicts);

void TellHardware(const JobView& view, const std::vector<NodeHardware>& hardware,
                  std::vector<Verdict>& verdicts);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_HARDWARE_TELL_TELL_HARDWARE_H_
