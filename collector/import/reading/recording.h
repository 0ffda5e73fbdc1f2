// What an importer makes of files: one job, in the form that diagnosis reads, and what was left
// out.
//
// Filled by the importers of collector/import/<format>/, one after the other on the same Recording,
// so that files of several formats in one folder become one job; read by `fathom analyze`.
//
// Model: `view` is a diagnosis::JobView as the live collector would build it, with all rows of all
// iterations. Times that the source gives on the wall clock go into MonoNs fields as they are: all
// times of one rank then lie on one clock, which is all that diagnosis relies on. An importer adds
// facts; where another importer has already said something that contradicts, it keeps what is there
// and adds a note. A group is found by its name (GroupIdOfName): PyTorch numbers groups in the
// order in which the job made them, equal on all ranks and in all formats.
//
// Notes: one line each, "FILE: what was skipped and why" with the offset where there is one.
// Thread-safety: plain values. Ownership: owns all it holds.
#ifndef FATHOM_COLLECTOR_IMPORT_READING_RECORDING_H_
#define FATHOM_COLLECTOR_IMPORT_READING_RECORDING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/verdict/episode.h"
#include "diagnosis/functions/patterns/pattern_table.h"
#include "diagnosis/graph/alignment.h"
#include "diagnosis/model/job_view.h"
#include "diagnosis/model/stack_capture.h"
#include "diagnosis/tables/device_timeline.h"
#include "diagnosis/tables/rank_tables.h"
#include "proto/types/ids.h"

namespace fathom::collector {

// What a file was taken for.
struct FileUse {
  std::string path;
  std::string format;                // empty: none, and the file was ignored
  std::vector<std::uint32_t> ranks;  // that it was read for; empty: not told by file
  std::string left_out;              // why nothing of it is in the recording; empty: it was used
};

// How many ranks the job has by the files of a format.
struct SizeTold {
  std::string format;
  std::string path;  // a file that tells it
  std::uint32_t ranks = 0;
  bool exact = true;  // else there may be more
};

struct Recording {
  std::string source;  // formats read, joined by '+': "kineto+flight-recorder"
  diagnosis::JobView view;
  std::vector<diagnosis::RankTables> tables;  // by rank, of those whose work was traced
  diagnosis::StackCapture capture;            // of ranks whose traces tell what their threads did
  diagnosis::RankPatterns patterns;           // of functions, only where ImportLimits asks
  diagnosis::DeviceTimelines timelines;       // only where ImportLimits asks for them
  std::vector<RankId> ranks_missing;          // of the job, but in none of the files
  std::vector<std::string> notes;
  std::vector<FileUse> files;  // by path while they are read
  std::vector<SizeTold> sizes;
  diagnosis::ClockAlignment clocks;  // of the rows
  // A recording that was judged as it was read, like a live job: its verdicts, strongest first.
  bool replayed = false;
  std::vector<Episode> episodes;
};

// Fills the description of a group that has none yet. PyTorch writes "undefined" where it was given
// none, which is none.
void Describe(std::string_view description, diagnosis::Group& group);

// The id of the group that PyTorch calls `name`. Never 0.
GroupId GroupIdOfName(std::string_view name);

// The facts of `rank`, added in order if there are none yet. The reference is valid until the next
// call.
diagnosis::RankFacts& FactsOf(Recording& recording, RankId rank);

// What becomes of the file at `path`; nothing where it is not in recording.files.
void TellRank(std::string_view path, std::uint32_t rank, Recording& recording);
void TellLeftOut(std::string_view path, std::string why, Recording& recording);

// The group called `name`, added in order of id if it is not there. Same validity.
diagnosis::Group& GroupOf(Recording& recording, std::string_view name);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_RECORDING_H_
