// One collector of several, without ports: what a cluster needs of it, and an agent at its door.
//
// Used by cluster_test. Thread-safety: of one thread; callbacks come from the cluster's. Ownership:
// the wires and the clock outlive it. Errors: asserted by the test.
#ifndef FATHOM_TESTS_COLLECTOR_CLUSTER_MEMBER_H_
#define FATHOM_TESTS_COLLECTOR_CLUSTER_MEMBER_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collector/api/ops/ops_api.h"
#include "collector/cluster/cluster.h"
#include "collector/ops/op_store.h"
#include "fathom/v1/agent.pb.h"
#include "fathom/v1/row.pb.h"
#include "tests/collector/bus/wires.h"
#include "tests/collector/messages.h"

namespace fathom::collector {

// Says who was asked what.
class NearAnswers final : public Answerer {
 public:
  NearAnswers(std::string name, const JobTable& jobs, OpStore* ops)
      : name_(std::move(name)),
        jobs_(jobs),
        ops_([ops] { return ops == nullptr ? "" : ops->folder(); }, name_) {}
  Response Answer(const Request& request) const override {
    if (request.segments.size() > 3 && request.segments[2] == "ops") return ops_.Answer(request);
    if (request.path == "/api/v1/jobs") {
      std::string list;
      for (const auto& job : jobs_.All()) {
        list += (list.empty() ? "" : ",") +
                ("{\"name\":\"" + job->name() + "\",\"at\":\"" + name_) + "\"}";
      }
      return Response::Json("{\"jobs\":[" + list + "]}");
    }
    if (request.path == "/api/v1/plan") {
      return Response::Json(
          "{\"plan\":[{\"collector\":\"" + name_ +
          "\"},{\"node\":\"n0\",\"connected\":" + (name_ == "door" ? "true}]}" : "false}]}"));
    }
    if (request.path == "/api/v1/verdicts") {
      // As without a history: what stands here, and that it may not be all.
      return Response::Json("{\"lacks\":\"no history\",\"verdicts\":[{\"id\":\"of-" + name_ +
                            "\"},{\"id\":\"of-all\"}]}");
    }
    if (request.path == "/api/v1/verdicts/of-" + name_) return Response::Json("{\"id\":\"mine\"}");
    if (request.path.starts_with("/api/v1/verdicts/")) return Response::Error(503, "no history");
    return Response::Json("{\"at\":\"" + name_ + "\",\"path\":\"" + request.path + "\",\"by\":\"" +
                          request.person.name + "\"}");
  }
  std::vector<std::string> JobObjects(const std::string&) const override {
    return {"{\"of\":\"" + name_ + "\"}"};
  }

 private:
  const std::string name_;
  const JobTable& jobs_;
  const OpsApi ops_;
};

// The way down to an agent.
class KeptOrders final : public RowsChannel {
 public:
  bool Pass(v1::CollectorMessage message) override {
    if (!message.has_rows()) return false;
    const std::lock_guard lock(mutex_);
    rows_.push_back(message.rows());
    return true;
  }
  std::vector<v1::RowsRequest> rows() const {
    const std::lock_guard lock(mutex_);
    return rows_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<v1::RowsRequest> rows_;
};

struct Member {
  Member(Wires& wires, const Clock& clock_in, std::string name_in, OpStore* ops = nullptr)
      : clock(clock_in), name(std::move(name_in)), near(name, jobs, ops) {
    ingest.ops = ops;
    auto started = Cluster::Start(
        {name}, wires.Join(name),
        {ingest, events, near, clock, checkpoints,
         [this](const std::string& job, Leases::Token token, const v1::BusCheckpoint* checkpoint) {
           const std::lock_guard lock(mutex);
           taken.emplace_back(job, token);
           found = checkpoint == nullptr ? std::nullopt : std::optional(*checkpoint);
           if (refuse.ok()) checkpoints.Begin(job, found ? found->memory() : v1::JobMemory());
           return refuse;
         },
         [](const std::string&) {},
         [this](const std::string& job) {
           jobs.Forget(job);
           checkpoints.Forget(job);
           const std::lock_guard lock(mutex);
           lost.push_back(job);
         },
         [](bool, const std::string&) {}, [this](const std::string&) { return told; }});
    EXPECT_TRUE(started.ok()) << started.status();
    if (started.ok()) cluster = *std::move(started);
  }

  // As kill -9 would: nothing is handed over.
  void Die() { cluster.reset(); }

  std::unique_ptr<StreamSession> Connect(const std::string& node,
                                         const std::shared_ptr<KeptOrders>& orders) {
    auto session = ingest.make_session(++streams, orders, {});
    EXPECT_EQ(session->OnMessage(HelloFrom(node)).refused, "");
    return session;
  }
  std::size_t RanksOf(const std::string& job) const {
    const auto state = jobs.Find(job);
    return state == nullptr ? 0 : state->rank_count();
  }
  std::int64_t NewestOf(const std::string& job) const {
    const auto state = jobs.Find(job);
    return state == nullptr ? -1 : state->progress().whole;
  }
  Leases::Token token() const {
    const std::lock_guard lock(mutex);
    return taken.empty() ? 0 : taken.back().second;
  }

  const Clock& clock;
  const std::string name;
  JobTable jobs{clock, {}};
  SessionRegistry registry{clock};
  IngestCounters counters;
  RowRequests requests{registry, counters, clock};
  IngestContext ingest{jobs, registry, requests, counters, [](const std::string&) {}};
  EventHub events{4};
  NearAnswers near;
  absl::Status refuse;
  std::vector<KeptOps> told;  // in the history
  JobCheckpoints checkpoints;
  mutable std::mutex mutex;                // guards found, taken and lost
  std::optional<v1::BusCheckpoint> found;  // by the last that was taken
  std::vector<std::pair<std::string, Leases::Token>> taken;
  std::vector<std::string> lost;
  std::uint64_t streams = 0;
  std::unique_ptr<Cluster> cluster;
};

}  // namespace fathom::collector

#endif  // FATHOM_TESTS_COLLECTOR_CLUSTER_MEMBER_H_
