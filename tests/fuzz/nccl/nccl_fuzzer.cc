// Any bytes as the file of an NCCL recorder, in chunks of any size, taken all the way into a view.
// The first byte chooses the format, the second the size of chunks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "collector/import/nccl/inspector_reader.h"
#include "collector/import/nccl/job_builder.h"
#include "collector/import/nccl/profiler_trace_reader.h"

namespace nccl = fathom::collector::nccl;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::size_t at = 0;
  const nccl::ByteSource source = [&](char* to, std::size_t room) {
    const std::size_t count = std::min(room, text.size() - at);
    std::memcpy(to, text.data() + at, count);
    at += count;
    return absl::StatusOr<std::size_t>(count);
  };
  constexpr std::uint64_t kOps = 1 << 16;
  const std::size_t chunk = std::size_t{1} + 16 * data[1];
  auto record = data[0] % 2 == 0 ? nccl::ReadInspector(source, kOps, chunk)
                                 : nccl::ReadProfilerTrace(source, kOps, chunk);
  if (!record.ok()) return 0;
  std::erase_if(record->parts, [](const nccl::CommPart& part) {
    return part.ops.empty() || part.rank >= 1024 || part.size > 1024;
  });
  if (record->parts.empty()) return 0;
  fathom::collector::Recording recording;
  (void)nccl::BuildJob(std::move(record->parts), "", recording);
  return 0;
}
