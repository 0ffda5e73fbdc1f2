// Small traces written by hand: builds the JSON of a few events.
// Used by the tests of the Kineto importer only.
#ifndef FATHOM_TESTS_COLLECTOR_IMPORT_KINETO_TRACE_TEXT_H_
#define FATHOM_TESTS_COLLECTOR_IMPORT_KINETO_TRACE_TEXT_H_

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "collector/import/kineto/trace/rank_trace_builder.h"
#include "collector/import/kineto/trace/trace_reader.h"

namespace fathom::collector::kineto {

// Times in µs.
inline std::string Event(std::string_view category, std::string_view name, int thread, double begin,
                         double duration, const std::string& args = "") {
  return absl::StrCat(R"({"ph": "X", "cat": ")", std::string(category), R"(", "name": ")",
                      std::string(name), R"(", "pid": 7, "tid": )", thread, R"(, "ts": )", begin,
                      R"(, "dur": )", duration, R"(, "args": {)", args, "}}");
}

inline std::string Step(int number, double begin, double duration) {
  return Event("user_annotation", absl::StrCat("ProfilerStep#", number), 1, begin, duration);
}

// An all-reduce of Gloo: the call on thread 1 and the run on a worker.
inline std::vector<std::string> GlooAllReduce(double begin, double end, bool asynchronous = true,
                                              int worker = 11, int elements = 100) {
  const std::string dims = absl::StrCat("[[[", elements, "]], []]");
  return {Event("cpu_op", "c10d::allreduce_", 1, begin, 1,
                absl::StrCat(R"("Input Dims": )", dims, R"(, "Input type": ["TensorList"], )",
                             R"("Concrete Inputs": ["", "", "", "", ")",
                             asynchronous ? "True" : "False", R"(", "-1"])")),
          Event("user_annotation", "gloo:all_reduce", worker, begin + 1, end - begin - 1,
                absl::StrCat(R"("Input Dims": [[)", elements, R"(]], "Input type": ["float"])"))};
}

inline std::string Header(int rank, int world, std::string_view more = "") {
  std::vector<std::string> ranks;
  for (int i = 0; i < world; ++i) ranks.push_back(absl::StrCat(i));
  return absl::StrCat(
      R"("schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {)",
      R"("backend": "gloo", "rank": )", rank, R"(, "world_size": )", world,
      R"(, "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": )", world,
      R"(, "ranks": [)", absl::StrJoin(ranks, ", "), "]}", std::string(more), "]}");
}

inline std::string Trace(const std::string& header, const std::vector<std::string>& events) {
  return absl::StrCat("{", header, header.empty() ? "" : ", ", "\"traceEvents\": [\n",
                      absl::StrJoin(events, ",\n"), "\n], \"traceName\": \"x\"}");
}

inline ByteSource SourceOf(std::string_view text) {
  return [text, at = std::size_t{0}](char* to, std::size_t size) mutable {
    const std::size_t count = std::min(size, text.size() - at);
    std::memcpy(to, text.data() + at, count);
    at += count;
    return absl::StatusOr<std::size_t>(count);
  };
}

inline RankTrace Sift(const std::string& text) {
  RankTraceBuilder builder;
  auto summary = ReadTrace(SourceOf(text), builder);
  return summary.ok() ? builder.Take(*std::move(summary)) : RankTrace{};
}

}  // namespace fathom::collector::kineto

#endif  // FATHOM_TESTS_COLLECTOR_IMPORT_KINETO_TRACE_TEXT_H_
