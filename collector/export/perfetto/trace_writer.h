// Writes a trace in Perfetto's format: tracks, slices that nest, instants, flows.
//
// Used by job_trace.h; knows nothing of jobs. Opens in ui.perfetto.dev and trace_processor.
// docs/formats/perfetto.md.
//
// Model: one packet sequence. Names are interned: each is written once and referred to by number.
// The slices of one track must nest, as a call stack does; ops that overlap otherwise need a track
// each (Lanes). A packet is written as soon as it is made, in any order of time: readers sort.
//
// Units: ns, any epoch. Ids of tracks and flows: anything but 0, equal ids are one track or flow.
// Thread-safety: thread-compatible. Errors: those of the file, at Close().
// Cost: some 20 bytes a slice; memory O(distinct names).
// Source: protos/perfetto/trace/{trace_packet,track_event/*,interned_data/*}.proto of Perfetto;
// written by hand because of a hundred fields a dozen are needed.
#ifndef FATHOM_COLLECTOR_EXPORT_PERFETTO_TRACE_WRITER_H_
#define FATHOM_COLLECTOR_EXPORT_PERFETTO_TRACE_WRITER_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fathom::collector::perfetto {

struct Track {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // 0: none
  std::string name;
  std::int32_t process = 0;  // not 0: the track is this process, or one of its threads
  std::int32_t thread = 0;   // not 0: the track is this thread, unlike any other of the trace
};

struct Slice {
  std::string_view name;
  std::string_view category;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t flow = 0;                                       // 0: none
  bool flow_ends = false;                                       // nothing later is of the flow
  std::vector<std::pair<std::string_view, std::string>> notes;  // shown beside it
};

class TraceWriter {
 public:
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Create(const std::string& path);
  // Into an open stream, which it closes; `name` is for its errors.
  static std::unique_ptr<TraceWriter> Into(std::FILE* stream, const std::string& name);

  void Add(const Track& track);
  // Requires: begins come in order of time, after the ends of what ended before (Lanes does so).
  void Begin(std::uint64_t track, const Slice& slice);
  void End(std::uint64_t track, std::int64_t at_ns);
  void Instant(std::uint64_t track, const Slice& slice);
  std::uint64_t slices() const { return slices_; }  // begun so far
  // The status of everything written; nothing may follow.
  absl::Status Close();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  TraceWriter(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void Event(std::uint64_t type, std::uint64_t track, std::int64_t at_ns, const Slice* slice);
  std::uint64_t Intern(int field, std::string_view text);
  void PutSlice(const Slice& slice);
  void Write(const std::string& packet);

  const std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  absl::flat_hash_map<std::string, std::uint64_t> names_[4];  // by field of InternedData
  // Of the packet being made, kept for their room.
  std::string interned_, body_, note_, packet_, framed_;
  std::uint64_t slices_ = 0;
  bool first_ = true;
  bool failed_ = false;
};

}  // namespace fathom::collector::perfetto

#endif  // FATHOM_COLLECTOR_EXPORT_PERFETTO_TRACE_WRITER_H_
