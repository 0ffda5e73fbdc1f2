// Bytes as agents might send them, through parsing, validation, the window and back out through
// everything that reads it. Input: frames of 16 bits, little-endian, and that many bytes as the
// lower 14 of them say, each an AgentMessage; a good Hello and two good ranks go before them. The
// upper two bits say whose it is: 0 and 1 the first and the second agent's, on the stream that it
// has; 2 and 3 the same on a stream that is begun anew with it, as after a restart of the agent. A
// stream that the collector ends is over; its agent comes again with a Hello.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
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

// Two nodes, each with a stream at a time.
class Agents {
 public:
  explicit Agents(IngestContext& context) : context_(context) {
    for (const unsigned node : {0U, 1U}) Connect(node);
  }
  // What comes next on its new stream is the agent's to say.
  void Restart(unsigned node) {
    streams_[node].reset();
    streams_[node] = std::make_unique<AgentSession>(++last_id_, context_,
                                                    std::weak_ptr<RowsChannel>(), WitnessOf(node));
  }
  void Say(unsigned node, const v1::AgentMessage& message) {
    const AgentSession::Outcome outcome = streams_[node]->OnMessage(message);
    if (outcome.close) Connect(node);
  }

 private:
  static Witness WitnessOf(unsigned node) {
    return {.identity = "user " + std::to_string(node), .names = std::nullopt};
  }
  void Connect(unsigned node) {
    Restart(node);
    const auto outcome = streams_[node]->OnMessage(HelloFrom("n" + std::to_string(node)));
    // The other agent may have taken the name, and keeps it while it is connected.
    if (outcome.close) Restart(node);
  }

  IngestContext& context_;
  std::uint64_t last_id_ = 0;
  std::unique_ptr<AgentSession> streams_[2];
};

void Feed(const std::uint8_t* data, std::size_t size) {
  FakeClock clock;
  JobTable jobs(clock, {8, 64});
  SessionRegistry registry(clock);
  IngestCounters counters;
  RowRequests requests(registry, counters, clock);
  IngestContext context{jobs, registry, requests, counters, [](const std::string&) {}};
  Agents agents(context);
  for (std::uint32_t r = 0; r < 2; ++r) agents.Say(0, Message(2, RankOf(r, 2)));
  while (size >= 2) {
    const unsigned head = data[0] | static_cast<unsigned>(data[1]) << 8;
    const std::size_t length = std::min<std::size_t>(head & 0x3fff, size - 2);
    v1::AgentMessage message;
    if (message.ParseFromArray(data + 2, static_cast<int>(length))) {
      if ((head & 0x8000) != 0) agents.Restart(head >> 14 & 1);
      agents.Say(head >> 14 & 1, message);
    }
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
