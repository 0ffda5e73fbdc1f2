// Bytes as a collector might send them, through all that carries out what it asks: rows, windows,
// switches, stacks, captures, probes. Input: frames of a 16-bit little-endian length and that many
// bytes, each a CollectorMessage. The node has two ranks of job "job"; nothing is run for them: the
// tools are stand-ins that see what they are called with.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "daemon/agent/probe/probe_orders.h"
#include "daemon/agent/session/orders.h"
#include "daemon/agent/session/rank_session.h"
#include "daemon/agent/session/rows_reply.h"
#include "daemon/agent/uplink/outbox.h"
#include "fathom/v1/agent.pb.h"
#include "tests/fakes/ring_writer.h"

namespace fathom::agent {
namespace {

constexpr std::int64_t kStepNs = 100'000'000;
constexpr std::uint32_t kRanks = 2;
constexpr std::size_t kBuffer = 4 << 20;

void Demand(bool condition) {
  if (!condition) std::abort();
}

// A node that is asked for things.
class Node {
 public:
  Node() {
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) AddRank(rank);
    orders_.ReadStacksWith([](std::uint32_t, const std::atomic<bool>&) {
      return absl::StatusOr<StackReading>(absl::UnavailableError("none is read here"));
    });
    orders_.CaptureWith("py-spy", [](const RecordingPlan& plan, const std::atomic<bool>&) {
      Demand(plan.pid != 0);
      return absl::StatusOr<v1::RankCapture>(v1::RankCapture());
    });
    probes_.ProbeWith([](const v1::ProbeOrder&, const std::atomic<bool>&) {
      return absl::StatusOr<std::string>("{\"probe\":\"exact\"}\n");
    });
  }

  void Take(const v1::CollectorMessage& message) {
    now_ns_ += kStepNs;
    if (message.has_rows()) Answer(message.rows());
    if (message.has_window()) orders_.OpenWindow(message.window(), now_ns_);
    if (message.has_trace()) orders_.Switch(message.trace(), now_ns_);
    if (message.has_stacks()) orders_.ReadStacks(message.stacks(), now_ns_);
    if (message.has_capture()) orders_.Capture(message.capture(), now_ns_);
    if (message.has_probe()) probes_.Carry(message.probe(), kRanks, now_ns_);
    for (const auto& session : sessions_) orders_.Report(*session, now_ns_);
    orders_.ReportStacks(now_ns_);
    orders_.ReportCaptures(now_ns_, {});
    probes_.Report(kRanks);
  }

 private:
  void AddRank(std::uint32_t rank) {
    rings_.push_back(std::make_unique<fakes::RingWriter>(
        folder_.path(), fakes::RingOptions{.pid = 100 + rank, .rank = rank}));
    rings_.back()->AddGroup("g", kRanks, rank, {0, 1});
    auto region = RegionReader::Open(rings_.back()->path());
    Demand(region.ok());
    SessionSettings settings;
    settings.folder = folder_.path();
    settings.roots = {"/nonexistent", "/nonexistent", "/nonexistent"};
    sessions_.push_back(
        std::make_unique<RankSession>(rings_.back()->name(), *std::move(region), settings));
    Demand(sessions_.back()->Poll(now_ns_).ok());
  }

  RankSession* Find(const std::string& job, std::uint32_t rank) {
    return job == "job" && rank < kRanks ? sessions_[rank].get() : nullptr;
  }

  void Answer(const v1::RowsRequest& request) {
    std::vector<RankSession*> asked;
    for (const std::uint32_t rank : request.ranks()) {
      if (RankSession* session = Find(request.job(), rank); session != nullptr) {
        asked.push_back(session);
      }
    }
    const v1::RowsReply reply = AnswerRows(request, asked, Outbox::kMaxMessageBytes);
    Demand(reply.ByteSizeLong() <= Outbox::kMaxMessageBytes + 4096);
  }

  std::int64_t now_ns_ = 1'000'000'000'000;
  fakes::RingFolder folder_;
  std::vector<std::unique_ptr<fakes::RingWriter>> rings_;
  std::vector<std::unique_ptr<RankSession>> sessions_;
  Outbox outbox_{kBuffer};
  Orders orders_{[this](const std::string& job, std::uint32_t rank) { return Find(job, rank); },
                 outbox_};
  ProbeOrders probes_{outbox_, ""};
};

}  // namespace
}  // namespace fathom::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fathom::agent::Node node;
  while (size >= 2) {
    const std::size_t length = std::min<std::size_t>(data[0] | data[1] << 8, size - 2);
    fathom::v1::CollectorMessage message;
    if (message.ParseFromArray(data + 2, static_cast<int>(length))) node.Take(message);
    data += 2 + length;
    size -= 2 + length;
  }
  return 0;
}
