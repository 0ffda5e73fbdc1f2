// Arbitrary bytes as the region of a training process, through everything that reads one: header,
// control block, group table, records, joiner, iterations, rows.
//
// The first byte chooses how the rest is used:
//   0  the file, as it is
//   1  patches of a valid region: (offset u32, length u8, bytes)…
//   2  records of a valid region, their commit words set right
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "daemon/agent/pipeline/rank_pipeline.h"
#include "daemon/agent/session/rank_messages.h"
#include "daemon/agent/session/rank_session.h"
#include "daemon/agent/session/rows_reply.h"
#include "daemon/agent/session/transfer_watch.h"
#include "daemon/agent/source/ring/region_reader.h"
#include "tests/fakes/ring_writer.h"

namespace {

using fathom::fakes::RingFolder;
using fathom::fakes::RingWriter;
using Bytes = std::span<const std::uint8_t>;
namespace abi = fathom::abi;
namespace agent = fathom::agent;

constexpr std::int64_t kNow = 1'000'000'000'000;

void WriteFile(const std::string& path, Bytes bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) < 0) std::abort();
  close(fd);
}

void Patch(RingWriter& ring, Bytes bytes) {
  auto* base = reinterpret_cast<std::uint8_t*>(&ring.header());
  const std::size_t region = abi::FileBytes(ring.capacity());
  while (bytes.size() > 5) {
    std::uint32_t offset = 0;
    std::memcpy(&offset, bytes.data(), sizeof(offset));
    const std::size_t length = std::min<std::size_t>(bytes[4], bytes.size() - 5);
    offset %= region;
    std::memcpy(base + offset, bytes.data() + 5, std::min(length, region - offset));
    bytes = bytes.subspan(5 + length);
  }
}

void AddRecords(RingWriter& ring, Bytes bytes) {
  ring.AddGroup("g", 4, 0, {0, 1, 2, 3});
  while (bytes.size() >= sizeof(abi::EventRecord)) {
    abi::EventRecord record;
    std::memcpy(&record, bytes.data(), sizeof(record));
    ring.Write(record);
    bytes = bytes.subspan(sizeof(record));
  }
}

void ReadAll(const std::string& path) {
  auto region = agent::RegionReader::Open(path);
  if (!region.ok()) return;
  agent::SessionSettings settings;
  settings.roots = {"/nonexistent", "/nonexistent"};
  settings.pipeline.log.max_rows = 512;
  agent::RankSession session("1-0.ring", *std::move(region), settings);
  (void)session.Poll(kNow);
  (void)agent::RankInfoOf(session);
  session.RefreshProgress();
  auto health = agent::RankHealthOf(session, {}, kNow, true);
  agent::TransferWatch().Look(session, kNow, health);
  session.Retire(kNow + 1);
  for (auto run = session.pipeline().TakeClosed(); !run.summaries.empty();
       run = session.pipeline().TakeClosed()) {
    (void)agent::SummaryBatchOf(session, run, kNow);
  }
  (void)session.IsGone(kNow + 2);
  (void)agent::RankGoneOf(session, kNow + 2, kNow);
  fathom::v1::RowsRequest request;
  for (int i = 0; i < 4; ++i) request.add_iterations(i);
  request.add_iterations(std::numeric_limits<std::int64_t>::max());
  agent::RankSession* const sessions[] = {&session};
  (void)agent::AnswerRows(request, sessions, 1 << 20);
  request.set_in_flight_only(true);
  (void)agent::AnswerRows(request, sessions, 1 << 20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const RingFolder folder;
  if (size == 0) return 0;
  const Bytes rest(data + 1, size - 1);
  if (data[0] % 3 == 0) {
    const std::string path = folder.path() + "/raw.ring";
    WriteFile(path, rest);
    ReadAll(path);
    return 0;
  }
  RingWriter ring(folder.path(), {.pid = 1});
  if (data[0] % 3 == 1) {
    ring.AddGroup("g", 4, 0, {0, 1, 2, 3});
    Patch(ring, rest);
  } else {
    AddRecords(ring, rest);
  }
  ReadAll(ring.path());
  unlink(ring.path().c_str());
  return 0;
}
