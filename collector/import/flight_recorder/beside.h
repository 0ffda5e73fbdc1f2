// Groups that a thread beside the training uses, such as a heartbeat, in the dumps of a job.
//
// Used by flight_recorder_importer.cc before the dumps are put together. Sister of the agent's
// pipeline/thread_roles.h, which tells the same of live jobs.
//
// Model: dumps are taken one after the other, and such a thread goes on meanwhile: of its newest op
// some ranks are inside and others not yet, whatever the training does. Left in, a rank would seem
// to wait for one that waits for it. A group is beside the training if all entries that name it, on
// all ranks, are small collectives (at most kLightElements) called by a thread that Python started
// (the outermost frame is that of the module threading), while other groups carry data from
// elsewhere. It is left out only where something else is open: a heartbeat that alone is stuck may
// be what ended the job.
//
// Thread-safety: pure function. Errors: none; without frames nothing is left out.
// Cost: O(entries).
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_BESIDE_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_BESIDE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/import/flight_recorder/dump.h"
#include "collector/import/flight_recorder/value.h"
#include "proto/types/ids.h"

namespace fathom::collector::flight_recorder {

inline constexpr std::uint64_t kLightElements = 512;  // 4 KiB of the widest type

// Whether frames, innermost first, end where Python starts a thread. null: not there.
bool IsFromThread(const Value* frames);

// Takes the entries of such groups out, and what the dumps count of them; one note a group.
void LeaveOutBeside(std::map<RankId, Dump>& dumps, std::vector<std::string>& notes);

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_BESIDE_H_
