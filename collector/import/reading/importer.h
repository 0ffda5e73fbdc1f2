// A reader of one recording format.
//
// Implemented in collector/import/<format>/; listed in collector/import/recognise.cc, which decides
// by content which importer gets which files of a job.
//
// Model: Recognises() sees the first kHeadBytes of a file, inflated if it was zipped, and must not
// claim what belongs to another format. Read() gets all files of its format at once and adds what
// they say to the recording. A file that is broken, doubtful or a duplicate becomes a note, and the
// rest is read; only when nothing at all could be used is there an error.
//
// Thread-safety: an Importer is immutable; calls on different recordings may run in parallel.
// Errors: InvalidArgument (no file usable), ResourceExhausted (a limit of ImportLimits), Cancelled
// (ImportLimits.stop), in one line that names file and offset. Files are outside bytes: every
// reader is bounded by ImportLimits.
#ifndef FATHOM_COLLECTOR_IMPORT_READING_IMPORTER_H_
#define FATHOM_COLLECTOR_IMPORT_READING_IMPORTER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "collector/import/reading/recording.h"
#include "proto/types/time_units.h"

namespace fathom::diagnosis {
struct DiagnosisConfig;
struct Topology;
}  // namespace fathom::diagnosis

namespace fathom::collector {

inline constexpr std::size_t kHeadBytes = 64 * 1024;

struct ImportLimits {
  std::uint64_t file_bytes = std::uint64_t{16} << 30;  // of one file, inflated
  std::uint64_t dump_bytes = std::uint64_t{1} << 30;   // of one file that is held in memory whole
  std::uint64_t inflate_ratio = 1100;  // deflate cannot exceed 1032; more is no honest gzip
  std::uint64_t table_rows = std::uint64_t{1} << 25;      // of one table; 64 bytes each in memory
  std::uint64_t archive_bytes = std::uint64_t{16} << 30;  // of all files of one archive, unpacked
  std::uint32_t ranks = 1 << 20;
  std::uint32_t files = 1 << 20;
  // Kernels, copies and ops to keep one by one for a drawing, of all ranks; 0: only their sums.
  std::uint64_t timeline_events = 0;
  bool patterns = false;  // of functions: for who writes tables
  // Grows by what is read of files as they lie on disk, for a progress bar; may be null.
  std::atomic<std::uint64_t>* bytes_read = nullptr;
  const std::atomic<bool>* stop = nullptr;  // set: reading ends with Cancelled; may be null
  // Of formats that are judged while they are read (fathom); null: the defaults.
  const diagnosis::DiagnosisConfig* thresholds = nullptr;
  // How the nodes hang on their switches; null: nobody has told.
  const diagnosis::Topology* topology = nullptr;
  // Of formats that are replayed (fathom): what came before is left out, but for who takes part,
  // and what came after. 0: no bound.
  WallNs from, to;
};

class Importer {
 public:
  virtual ~Importer() = default;

  // Name of the format as `--format` takes it: "kineto", "flight-recorder", …
  virtual std::string_view format() const = 0;

  virtual bool Recognises(std::string_view path, std::string_view head) const = 0;

  // Requires: every path was recognised, or the user insisted on this format.
  virtual absl::Status Read(const std::vector<std::string>& paths, const ImportLimits& limits,
                            Recording& recording) const = 0;

  // Called once all importers have read, if this one did: joins what it read with what others did.
  virtual void Finish(Recording&) const {}
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_IMPORTER_H_
