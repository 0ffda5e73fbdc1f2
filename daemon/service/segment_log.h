// Records on disk that outlive kill -9: appended to numbered segment files, read back at the start.
//
// Used by the agent's spool and the collector's journal, which know what the records mean.
// docs/formats/spool.md has the bytes.
//
// Model: a folder of files `<first sequence>.seg`. A record has a sequence, rising by 1, its length
// and a CRC32C; one that `standing` gives is written at the head of every segment with sequence 0,
// so that a segment needs none before it; it is as long as `segment_bytes` and three such heads.
// Each opening begins a new segment: nothing is written behind a torn tail. Beyond `max_bytes` the
// oldest segment is removed, whatever is in it. A torn tail ends its segment; a record whose
// checksum is wrong is skipped, and where its length is nonsense the rest of its segment; each is
// counted and told of. A write that fails, as on a full disk, takes back what it had written of
// itself, and the next one is tried: on the disk are whole records only.
//
// Units: bytes; wall ns. Thread-safety: thread-compatible. Ownership: the folder is locked; a
// second log of it is refused. Errors: Open says what and where; Append and Sync pass on the
// system's. Cost: one write an Append, whatever the number of its records; Read reads sequentially.
#ifndef FATHOM_DAEMON_SERVICE_SEGMENT_LOG_H_
#define FATHOM_DAEMON_SERVICE_SEGMENT_LOG_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proto/types/time_units.h"

namespace fathom::service {

struct SegmentLimits {
  std::uint64_t segment_bytes = 8u << 20;
  std::uint64_t max_bytes = 256u << 20;
};

struct SegmentCounters {
  std::uint64_t bytes = 0;            // on the disk now
  std::uint64_t torn = 0;             // segments with a torn tail, found at the start
  std::uint64_t corrupt = 0;          // records, or rests of segments, that were skipped
  std::uint64_t write_errors = 0;     // appends and syncs that failed
  std::uint64_t segments_pushed = 0;  // out by max_bytes
};

class SegmentLog {
 public:
  static constexpr std::uint32_t kMaxRecordBytes = 8u << 20;

  using Standing = std::function<std::vector<std::string>()>;
  using Take = std::function<void(std::uint64_t sequence, std::string_view bytes)>;
  using Tell = std::function<void(const std::string& problem)>;

  // Makes `folder` (0700) if it is not there. `tell` hears of what could not be read, in words.
  static absl::StatusOr<std::unique_ptr<SegmentLog>> Open(const std::string& folder,
                                                          SegmentLimits limits, Standing standing,
                                                          Tell tell);
  SegmentLog(const SegmentLog&) = delete;
  SegmentLog& operator=(const SegmentLog&) = delete;
  ~SegmentLog();

  // Every sound record of earlier openings, oldest first, those with sequence 0 among them.
  void ReadEarlier(const Take& take);

  // Sequences next(), next() + 1, … to `records`, in one write.
  absl::Status Append(const std::vector<std::string_view>& records, WallNs now);
  absl::Status Sync();

  // Records from `sequence` on, until they are more than `bytes`; the sequence after the last of
  // them. Fast where it goes on from the call before.
  std::uint64_t Read(std::uint64_t sequence, std::uint64_t bytes, const Take& take);

  // Removes segments of which nothing is needed from `sequence` on.
  void RemoveBefore(std::uint64_t sequence);
  // And those whose last record is older than `when`.
  void RemoveOlderThan(WallNs when);

  std::uint64_t next() const { return next_; }
  std::uint64_t oldest() const;  // that is still there; next() if none is
  // The first sequences of the segments, oldest first.
  std::vector<std::uint64_t> Segments() const;
  const SegmentCounters& counters() const { return counters_; }
  const std::string& folder() const { return folder_; }

 private:
  struct Segment {
    std::string path;
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;
    std::uint64_t head = 0;  // of them, what stands
    std::int64_t begun_ns = 0;
  };
  // Where the last Read ended.
  struct Place {
    std::uint64_t segment = 0;  // its first sequence; 0: none
    std::uint64_t sequence = 0;
    std::uint64_t offset = 0;
  };

  SegmentLog(std::string folder, SegmentLimits limits, Standing standing, Tell tell);
  absl::Status Lock();
  absl::Status List();
  void Scan();  // the segments that are there: checked, and the next sequence found
  absl::Status Begin(WallNs now);
  absl::Status Write(std::string_view bytes);
  absl::Status Failed(const std::string& what);
  void RemoveFront();
  // Records of one segment from `offset`; where it ended. `take` returns false to stop.
  std::uint64_t Walk(const Segment& segment, std::uint64_t offset, bool telling,
                     const std::function<bool(std::uint64_t, std::string_view)>& take);

  const std::string folder_;
  const SegmentLimits limits_;
  const Standing standing_;
  const Tell tell_;
  int lock_ = -1;
  int file_ = -1;  // of the newest segment, if it was begun by this opening
  std::deque<Segment> segments_;
  std::uint64_t next_ = 1;
  std::uint64_t first_of_this_opening_ = 1;
  bool unsynced_ = false;
  Place place_;
  SegmentCounters counters_;
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_SEGMENT_LOG_H_
