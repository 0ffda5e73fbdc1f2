// A whole collector in the test's process, on free ports, with Watch and Diagnose by script.
//
// Used by the server tests: set `slow` and the collector becomes suspicious of every job and
// blames rank 1. Thread-safety: `slow` and `want_rows` are atomics, the rest is the test thread's.
#ifndef FATHOM_TESTS_COLLECTOR_SERVER_SERVER_FIXTURE_H_
#define FATHOM_TESTS_COLLECTOR_SERVER_SERVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "collector/serve/collector.h"
#include "tests/collector/messages.h"
#include "tests/collector/server/fake_agent.h"
#include "tests/collector/server/http_client.h"

namespace fathom::collector {

class ServerFixture : public testing::Test {
 protected:
  void SetUp() override { Start(":memory:"); }

  void Start(const std::string& store, CollectorConfig config = {}) {
    config.grpc = config.http = "127.0.0.1:0";
    config.store = store;
    config.max_event_clients = 4;
    const auto finalized = Finalize(config);
    ASSERT_TRUE(finalized.ok()) << finalized.status();
    auto started = Collector::Start(*finalized, Scripted(), clock_);
    ASSERT_TRUE(started.ok()) << started.status();
    collector_ = *std::move(started);
  }

  DiagnosisFunctions Scripted() {
    return {[this](const diagnosis::JobView& view, const diagnosis::DiagnosisConfig&) {
              diagnosis::Suspicion suspicion;
              suspicion.slow = slow_;
              suspicion.settled = !slow_;
              suspicion.onset = Iteration(3);
              suspicion.expected = Nanos(100'000'000);
              suspicion.measured = Nanos(slow_ ? 250'000'000 : 100'000'000);
              if (slow_ && want_rows_ && view.window.size() > 3) {
                suspicion.rows = {{RankId(0), RankId(1)}, {Iteration(2), Iteration(3)}};
              }
              return suspicion;
            },
            [this](const diagnosis::JobView& view, const diagnosis::Suspicion& suspicion,
                   const diagnosis::DiagnosisConfig&) { return Blame(view, suspicion); }};
  }

  diagnosis::Diagnosis Blame(const diagnosis::JobView& view,
                             const diagnosis::Suspicion& suspicion) {
    diagnosis::Diagnosis diagnosis;
    diagnosis.iterations = static_cast<std::int64_t>(view.window.size());
    if (!suspicion.slow) return diagnosis;
    auto& verdict = diagnosis.verdicts.emplace_back();
    verdict.grade = diagnosis::Grade::kEstablished;
    verdict.cause = diagnosis::Cause::kHostSlow;
    verdict.problem = diagnosis::ProblemClass::kNonCommunicationSlow;
    verdict.entity.ranks = {RankId(1)};
    verdict.entity.node = "n0";
    verdict.sentence = "Rank 1 holds the job back.";
    verdict.since_iteration = suspicion.onset;
    for (const auto& [rank, rows] : view.rows) rows_seen_ += rows.ops.size();
    return diagnosis;
  }

  // Ranks 0 and 1 of a world of two, with `count` iterations each.
  static void Feed(FakeAgent& agent, int count, std::int64_t first = 0) {
    for (std::uint32_t r = 0; r < 2; ++r) {
      agent.Send(Message(0, RankOf(r, 2)));
      agent.Send(Message(0, GroupOf(r, 2)));
      BatchShape shape;
      shape.rank = r;
      shape.first = first;
      shape.count = count;
      shape.anchor = 1000 + static_cast<std::uint64_t>(first) * 5;
      agent.Send(Message(0, Batch(shape)));
    }
    ASSERT_TRUE(agent.WaitAcknowledged());
  }

  // A slow job whose rows were looked at ends another iteration, which confirms the verdict.
  void FeedOneMore(FakeAgent& agent) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    while (rows_seen_ == 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    Feed(agent, 1, 10);
  }

  RawReply Get(const std::string& target) { return HttpGet(collector_->http_port(), target); }

  // Asks again until the body holds `text`.
  bool Eventually(const std::string& target, const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    while (std::chrono::steady_clock::now() < deadline) {
      if (Get(target).body.find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  std::atomic<bool> slow_{false};
  std::atomic<bool> want_rows_{false};
  std::atomic<std::size_t> rows_seen_{0};
  SystemClock clock_;
  std::unique_ptr<Collector> collector_;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_SERVER_SERVER_FIXTURE_H_
