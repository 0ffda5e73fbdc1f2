// Bytes as an agent might send them, through parsing, validation, the window and back out through
// everything that reads it. Input: frames of a 16-bit little-endian length and that many bytes,
// each an AgentMessage; a good Hello and two good ranks go before them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "collector/admission/limits.h"
#include "collector/api/job_json.h"
#include "collector/export/report.h"
#include "collector/ingest/agent_session.h"
#include "fathom/v1/agent.pb.h"
#include "fathom/v1/report.pb.h"
#include "tests/collector/fake_clock.h"
#include "tests/collector/messages.h"

namespace fathom::collector {
namespace {

void Demand(bool condition) {
  if (!condition) std::abort();
}

// What the diagnoser, the API and the report would do with the job.
void ReadBack(const std::shared_ptr<JobState>& job) {
  diagnosis::JobView view = job->View([](std::string_view) { return true; });
  diagnosis::RowsWanted wanted;
  for (const auto& rank : view.ranks) wanted.ranks.push_back(rank.rank);
  for (const auto& iteration : view.window) {
    Demand(iteration.index.value >= 0);
    wanted.iterations.push_back(iteration.index);
  }
  job->FillRows(wanted, view);
  job->MissingRows(wanted);
  Demand(view.ranks.size() <= 64);
  v1::Report report;
  // A hostile world of a million ranks would only make the fuzzer slow.
  view.world_size = std::min<std::uint32_t>(view.world_size, 1000);
  BuildReport(view, {}, {}, "live", report);
  Demand(ToJson(report) != "{}");
  Demand(!IterationsJson(*job, -1, 2000).empty());
  Demand(!HealthJson(*job, {}).empty());
  if (!view.ranks.empty()) Demand(job->BytesPerRank() <= 4 * kMaxBytesPerRank);
  job->Figures();
}

void Feed(const std::uint8_t* data, std::size_t size) {
  FakeClock clock;
  JobTable jobs(clock, {8, 64});
  SessionRegistry registry(clock);
  IngestCounters counters;
  RowRequests requests(registry, counters, clock);
  IngestContext context{jobs, registry, requests, counters, [](const std::string&) {}};
  AgentSession session(1, context, {});
  session.OnMessage(HelloFrom("n0"));
  for (std::uint32_t r = 0; r < 2; ++r) session.OnMessage(Message(2, RankOf(r, 2)));
  while (size >= 2) {
    const std::size_t length = std::min<std::size_t>(data[0] | data[1] << 8, size - 2);
    v1::AgentMessage message;
    if (message.ParseFromArray(data + 2, static_cast<int>(length))) session.OnMessage(message);
    data += 2 + length;
    size -= 2 + length;
    clock.Advance(Nanos(10'000'000));
  }
  for (const auto& job : jobs.All()) ReadBack(job);
}

}  // namespace
}  // namespace fathom::collector

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::collector::Feed(data, size);
  return 0;
}
