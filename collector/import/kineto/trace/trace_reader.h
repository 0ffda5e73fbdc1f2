// Streams the events of a Chrome trace through a sink, whatever the size of the file.
//
// Used by KinetoImporter, its fuzzer and its benchmark.
//
// Model: the bytes are cut into chunks of about kChunkBytes where one event ends and the next
// begins. A cut looks like `}, {"KEY"` with KEY "ph" or the first key of the first event (Kineto
// begins names of processes with another key than events): such a text cannot lie inside a JSON
// string, since the quote before KEY would end it. Each chunk is parsed as an array of its own by
// simdjson on demand. What stands before and after the events is parsed as one small document.
// A value that is missing (`"KEY": ,`) counts as 0. An event that cannot be parsed is skipped up to
// the next cut and counted; bytes that are no UTF-8 are replaced by '?'; a file that ends early
// yields all whole events and `truncated`.
//
// Thread-safety: a TraceReader belongs to one thread. Ownership: the sink outlives Read().
// Errors: InvalidArgument (no `traceEvents`), ResourceExhausted (an event or a header larger than
// kLargestPiece), and those of the source; events read before an error have been delivered.
// Cost: one pass; memory of one chunk and its index, about 5 × kChunkBytes.
// Source: Langdale & Lemire 2019 (simdjson); Keiser & Lemire 2024 (on demand).
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_READER_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "collector/import/kineto/trace/trace_event.h"

namespace fathom::collector::kineto {

inline constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
inline constexpr std::size_t kLargestPiece = std::size_t{64} << 20;

class TraceSink {
 public:
  virtual ~TraceSink() = default;

  // Whether OnEvent needs the args of this event: reading them costs more than all the rest. Asked
  // by phase, category and name; the other fields may not be read yet.
  virtual bool WantsArgs(const TraceEvent& event) = 0;
  virtual void OnEvent(const TraceEvent& event, const EventArgs& args) = 0;
};

struct ReadSummary {
  TraceHeader header;
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t skipped = 0;           // events that could not be parsed
  std::uint64_t first_skipped_at = 0;  // offset of the first of them
  bool truncated = false;
};

// Up to `size` bytes into `to`; 0 at the end.
using ByteSource = std::function<absl::StatusOr<std::size_t>(char* to, std::size_t size)>;

absl::StatusOr<ReadSummary> ReadTrace(const ByteSource& source, TraceSink& sink,
                                      std::size_t chunk_bytes = kChunkBytes);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_TRACE_READER_H_
