// The files of a store of ops: appended to, followed by the next, and let go of when they are old.
//
// Owned by OpStore; the names are job_folder.h's.
//
// Model: each opening begins new segments, so nothing is written behind a torn tail. A write that
// fails takes back what it had written of itself: what is on the disk are whole blocks, but for the
// last one before a crash, which is counted when the store is opened and which readers skip. The
// oldest segment of all jobs goes first; one that is being written stays. Without a segment the
// folder of a job goes too.
//
// Units: bytes; wall ns. Thread-safety: thread-compatible. Ownership: the folder has one writer; a
// second one is refused. Errors: the system's words. Cost: Append opens and closes the file; Sync
// waits for the disk, once for each file; Open reads each folder once, and of each newest segment
// the headers of its blocks.
#ifndef FATHOM_COLLECTOR_OPS_SEGMENT_FILES_H_
#define FATHOM_COLLECTOR_OPS_SEGMENT_FILES_H_

#include <absl/status/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "collector/ops/job_folder.h"
#include "collector/store/database/file_lock.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

struct SegmentBounds {
  std::uint64_t segment_bytes = 64u << 20;
  std::uint64_t max_bytes = std::uint64_t{20} << 30;
  Nanos max_age = Nanos::FromSeconds(7 * 24 * 3600.0);
};

struct SegmentCounters {
  std::uint64_t bytes = 0;     // on the disk now
  std::uint64_t segments = 0;  // likewise
  std::uint64_t torn = 0;      // tails of segments that were cut, found when the store was opened
  std::uint64_t write_errors = 0;
  std::uint64_t let_go = 0;  // segments, by max_bytes or max_age
};

class SegmentFiles {
 public:
  SegmentFiles(std::string folder, SegmentBounds bounds)
      : folder_(std::move(folder)), bounds_(bounds) {}

  // Makes the folder (0700) if it is not there, and learns what is in it.
  absl::Status Open();
  // To the segment of the job that is being written; `begin`: of the block's first entry.
  absl::Status Append(const std::string& job, WallNs begin, WallNs now, std::string_view block);
  // To the file of who takes part.
  absl::Status AppendWho(const std::string& job, std::string_view block);
  // What was appended since the last call survives a loss of power once it returns.
  absl::Status Sync();
  void LetGo(WallNs now);

  const SegmentCounters& counters() const { return counters_; }

 private:
  struct Segment {
    std::string job, path;
    std::uint64_t bytes = 0;
    WallNs end;  // of its last write
  };
  // Of a job.
  struct Held {
    std::uint64_t segments = 0, who_bytes = 0;
  };
  using Segments = std::multimap<std::int64_t, Segment>;  // by begin

  void Learn(const std::string& job);
  Segments::iterator Open(const std::string& job, WallNs begin);
  absl::Status Write(const std::string& job, const std::string& path, std::string_view block);
  void Remove(Segments::iterator segment);
  std::string FolderOf(const std::string& job) const;
  std::string WhoFileOf(const std::string& job) const;

  const std::string folder_;
  const SegmentBounds bounds_;
  std::unique_ptr<FileLock> lock_;
  Segments segments_;
  std::map<std::string, Segments::iterator> open_;  // the one that is being written, of a job
  std::map<std::string, Held> held_;
  std::set<std::string> unsynced_;  // paths of files, and of folders that hold new ones
  SegmentCounters counters_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_OPS_SEGMENT_FILES_H_
