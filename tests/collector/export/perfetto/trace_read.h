// A trace for Perfetto, read back: its tracks and slices, and what of it breaks the format.
//
// Used by the tests of collector/export/perfetto, which compare it with what went in. The bytes are
// taken apart by Protobuf (perfetto_trace.proto); what is done with the packets is what a trace
// processor does: one sequence, interned names, slices that end in the order of a call stack.
//
// Units: ns. Thread-safety: pure function; plain values. Errors: each in `wrong`.
#ifndef FATHOM_TESTS_COLLECTOR_EXPORT_PERFETTO_TRACE_READ_H_
#define FATHOM_TESTS_COLLECTOR_EXPORT_PERFETTO_TRACE_READ_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom::collector::perfetto {

struct TrackRead {
  std::uint64_t parent = 0;
  std::string name;
  std::int32_t process = 0;
  std::int32_t thread = 0;

  bool operator==(const TrackRead&) const = default;
};

struct SliceRead {
  std::string track;  // its name
  std::string name;
  std::string category;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::vector<std::pair<std::string, std::string>> notes = {};
  std::vector<std::uint64_t> flows = {};
  std::vector<std::uint64_t> ended_flows = {};
  std::uint64_t track_id = 0;
};

struct TraceRead {
  std::map<std::uint64_t, TrackRead> tracks;
  std::vector<SliceRead> slices;  // as they begin in the file
  std::vector<SliceRead> instants;
  std::size_t names = 0;  // that are written out
  std::vector<std::string> wrong;

  // Slices of the tracks of that name.
  std::vector<SliceRead> On(std::string_view track) const;
  // The ids of the tracks of that name, ascending.
  std::vector<std::uint64_t> Named(std::string_view track) const;
};

TraceRead ReadTrace(const std::string& bytes);

}  // namespace fathom::collector::perfetto

#endif  // FATHOM_TESTS_COLLECTOR_EXPORT_PERFETTO_TRACE_READ_H_
