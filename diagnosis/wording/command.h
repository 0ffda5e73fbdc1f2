// Shell commands that verdicts suggest, with a name in them that came from outside.
//
// Used by evidence and rules for the names of nodes and jobs, which agents and recordings send.
//
// Model: whoever reads a verdict may paste its command into a root shell. So a name that is not
// letters, digits, '.', '_' and '-' alone, or that would be read as an option, is in no command:
// then none is suggested, and the text beside it says what to look at. Nor is one suggested that
// could not run: on a process whose id is not known, or that asks a collector about a recording.
//
// Thread-safety: pure. Errors: none. Cost: O(length of the name).
#ifndef FATHOM_DIAGNOSIS_WORDING_COMMAND_H_
#define FATHOM_DIAGNOSIS_WORDING_COMMAND_H_

#include <string>
#include <string_view>

#include "diagnosis/model/job_view.h"

namespace fathom::diagnosis {

// `before` + name + `after`; empty where the name may not be in a command.
std::string CommandWith(std::string_view before, std::string_view name,
                        std::string_view after = "");

// `command` with the id of the process in the place of each PID; empty where it needs one that is
// not known. `facts` may be null.
std::string CommandOnProcess(std::string_view command, const RankFacts* facts);

// Shows what each rank of a job does; empty of a recording, which no collector knows.
std::string RanksCommand(const JobView& view);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_WORDING_COMMAND_H_
