// Any bytes as a Flight Recorder dump: pickle or JSON, then the dumps of a job put together.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "collector/import/flight_recorder/dump.h"
#include "collector/import/flight_recorder/dump_set.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fathom::RankId;
  namespace fr = fathom::collector::flight_recorder;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)fr::LooksLikeDump(bytes);
  auto dump = fr::ReadDump(bytes);
  if (!dump.ok()) return 0;
  std::map<RankId, fr::Dump> dumps;
  dumps.emplace(RankId(0), *dump);
  dumps.emplace(RankId(3), std::move(*dump));
  const fr::DumpSet set(std::move(dumps));
  (void)set.hides_point_to_point();
  if (set.world_size() <= 4096) (void)set.missing();
  for (const auto& [rank, of] : set.dumps()) (void)set.ProgressOf(rank);
  return 0;
}
