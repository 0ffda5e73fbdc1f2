// Any bytes as a trace, read in chunks of any size and taken all the way into a view.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "collector/import/kineto/job_builder.h"
#include "collector/import/kineto/trace/rank_trace_builder.h"
#include "collector/import/kineto/trace/trace_reader.h"

namespace kineto = fathom::collector::kineto;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the size of chunks, so that cuts fall everywhere.
  const std::size_t chunk = std::size_t{64} + 16 * data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::size_t at = 0;
  const kineto::ByteSource source = [&](char* to, std::size_t room) {
    const std::size_t count = std::min(room, text.size() - at);
    std::memcpy(to, text.data() + at, count);
    at += count;
    return absl::StatusOr<std::size_t>(count);
  };
  kineto::RankTraceBuilder builder;
  auto summary = kineto::ReadTrace(source, builder, chunk);
  if (!summary.ok()) return 0;
  kineto::RankTrace trace = builder.Take(*std::move(summary));
  trace.path = "fuzz";
  fathom::collector::Recording recording;
  kineto::AddTraces({trace}, recording);
  return 0;
}
