// How fast the agent reads rings: records per second on one core, from the ring to joined ops.
//
// Prints a table. A ring of 2^16 records is filled (not timed) and drained (timed) again and again
// with ops of six records (enter, exec start, return, wait start, exec end, wait end), three ops an
// iteration. Rows: the copy alone by pread as the agent does it, by mmap as it could be done, the
// consumer with validation, and the whole way to ops and iterations.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "daemon/agent/pipeline/rank_pipeline.h"
#include "daemon/agent/source/ring/ring_consumer.h"
#include "tests/fakes/ring_writer.h"

namespace {

using fathom::abi::EventRecord;
namespace agent = fathom::agent;
using Clock = std::chrono::steady_clock;
using fathom::fakes::FakeOp;
using fathom::fakes::RingWriter;

constexpr std::uint32_t kRecords = 1 << 16;
constexpr int kRounds = 60;
constexpr std::int64_t kNow = std::int64_t{1} << 60;

class Load {
 public:
  // Fills the ring once round, but for a rest that makes no whole iteration.
  void Fill(RingWriter& ring) {
    for (std::uint32_t i = 0; i + 18 <= kRecords; i += 18) {
      for (const std::uint64_t bytes : {1u << 20, 1u << 21, 4u}) {
        time_ += 10'000'000;
        WriteOp(ring, FakeOp{.op_id = ++op_,
                             .sequence = op_,
                             .bytes = bytes,
                             .enter_ns = time_,
                             .end_ns = time_ + 5'000'000});
      }
    }
  }

 private:
  std::uint64_t op_ = 0;
  std::int64_t time_ = 1'000'000;
};

void Run(const char* what, RingWriter& ring, const std::function<std::uint64_t()>& drain) {
  Load load;
  std::uint64_t records = 0;
  double seconds = 0;
  for (int round = 0; round < kRounds; ++round) {
    load.Fill(ring);
    const auto begin = Clock::now();
    records += drain();
    seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  std::printf("%-34s %9.2f M/s %8.1f ns\n", what, static_cast<double>(records) / seconds / 1e6,
              seconds / static_cast<double>(records) * 1e9);
}

// The commit protocol on a mapping: what pread is compared with.
std::uint64_t DrainMapped(const RingWriter& ring, EventRecord* records,
                          const std::atomic<std::uint64_t>& head, std::uint64_t& next,
                          std::vector<EventRecord>& out) {
  std::uint64_t moved = 0;
  out.clear();
  for (const std::uint64_t end = head.load(); next < end; ++next, ++moved) {
    EventRecord& slot = records[next & (ring.capacity() - 1)];
    std::atomic_ref<std::uint64_t> commit(slot.commit);
    if (commit.load(std::memory_order_acquire) != next + 1) continue;
    EventRecord copy;
    std::memcpy(&copy, &slot, sizeof(copy));
    std::atomic_thread_fence(std::memory_order_acquire);
    if (commit.load(std::memory_order_relaxed) == next + 1) out.push_back(copy);
    if (out.size() == agent::RingConsumer::kBatch) out.clear();
  }
  return moved;
}

}  // namespace

int main() {
  const fathom::fakes::RingFolder folder;
  std::printf("%-34s %13s %11s\n", "ring of 65,536 records", "records", "a record");
  {
    RingWriter ring(folder.path(), {.pid = 1, .records = kRecords});
    std::uint64_t next = 0;
    std::vector<EventRecord> out;
    Run("mmap, commit protocol", ring,
        [&] { return DrainMapped(ring, ring.records(), ring.control().head, next, out); });
  }
  {
    RingWriter ring(folder.path(), {.pid = 2, .records = kRecords});
    const auto region = agent::RegionReader::Open(ring.path());
    std::vector<EventRecord> batch(agent::RingConsumer::kBatch);
    Run("pread twice, no checks", ring, [&]() -> std::uint64_t {
      for (std::uint32_t at = 0; at < kRecords; at += agent::RingConsumer::kBatch) {
        (void)region->ReadRecords(at, batch);
        (void)region->ReadRecords(at, batch);
      }
      return kRecords;
    });
  }
  {
    RingWriter ring(folder.path(), {.pid = 3, .records = kRecords});
    const auto region = agent::RegionReader::Open(ring.path());
    agent::RingConsumer consumer(*region);
    Run("consumer with validation", ring,
        [&] { return *consumer.Drain(*region->ReadHead(), kNow, kRecords, false, [](auto) {}); });
  }
  RingWriter ring(folder.path(), {.pid = 4, .records = kRecords});
  const auto region = agent::RegionReader::Open(ring.path());
  agent::RingConsumer consumer(*region);
  agent::GroupTable table(*region);
  ring.AddGroup("0", 4, 0, {0, 1, 2, 3});
  (void)table.Refresh(1);
  agent::RankPipeline pipeline{agent::PipelineSettings{}};
  pipeline.TakeGroups(table.groups(), 4);
  Run("ring to ops and iterations", ring, [&] {
    const std::uint64_t moved =
        *consumer.Drain(*region->ReadHead(), kNow, kRecords, false,
                        [&](std::span<const EventRecord> records) { pipeline.Take(records); });
    pipeline.Close();
    while (!pipeline.TakeClosed().summaries.empty()) {
    }
    return moved;
  });
  std::printf("(%lld iterations closed, %llu records lost)\n",
              static_cast<long long>(pipeline.iterations_closed()),
              static_cast<unsigned long long>(consumer.counters().lost));
  return 0;
}
