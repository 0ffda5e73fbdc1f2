// fathomd without its command line: finds rings, turns them into ops and iterations, sends them on.
//
// Made by main (and by tests); Run is its one loop.
//
// Model: all of the work is done by the thread that calls Step, at a cadence that follows the flow
// of records (poll_min to poll_max); only the uplink and HTTP have threads of their own, and meet
// the loop in the Outbox, in TakeRequests and in the metrics.
//
//   every step     poll each ring, answer requests for rows, carry out orders
//   every 250 ms   scan the folder, notice deaths, send summaries
//   every second   health of ranks and node, metrics; every 5 s the agent's counters, and a look at
//                  its plan: what all this costs, and how finely it may go on within the budget
//
// Its members lie in agent.cc and, those that tell of itself, in agent_report.cc, those of its plan
// in agent_plan.cc; what the centre asks for is answered in agent_orders.cc.
//
// Start order: folder, HTTP, uplink, loop. Stop: loop, a last drain, uplink (linger), HTTP.
//
// Units: CLOCK_MONOTONIC ns. Thread-safety: Step and Drain on one thread; RequestStop from any,
// signal handlers included.
// Ownership: owns everything it makes.
// Errors: Start's status; afterwards what goes wrong is logged once and counted.
#ifndef FATHOM_DAEMON_AGENT_AGENT_H_
#define FATHOM_DAEMON_AGENT_AGENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/agent/agent_world.h"
#include "daemon/agent/budget/node_planner.h"
#include "daemon/agent/budget/work_part.h"
#include "daemon/agent/config/settings.h"
#include "daemon/agent/ops/op_stream.h"
#include "daemon/agent/probe/probe_orders.h"
#include "daemon/agent/recorder/recorder.h"
#include "daemon/agent/self_metrics/agent_metrics.h"
#include "daemon/agent/self_metrics/http_server.h"
#include "daemon/agent/session/facts_watch.h"
#include "daemon/agent/session/hardware_watch.h"
#include "daemon/agent/session/orders.h"
#include "daemon/agent/session/rank_session.h"
#include "daemon/agent/session/socket_watch.h"
#include "daemon/agent/session/stack_watch.h"
#include "daemon/agent/session/transfer_watch.h"
#include "daemon/agent/source/process/node_facts.h"
#include "daemon/agent/source/process/process_tree.h"
#include "daemon/agent/source/ring/ring_directory.h"
#include "daemon/agent/spool/spool.h"
#include "daemon/agent/uplink/collector_link.h"
#include "daemon/agent/uplink/outbox.h"
#include "proto/types/time_units.h"

namespace fathom::agent {

class Agent {
 public:
  Agent(Settings settings, AgentWorld world);
  ~Agent();

  absl::Status Start();
  // Loops until RequestStop, then drains and stops. `between` is called after each turn, `stopping`
  // before the drain.
  void Run(
      const std::function<void()>& between = [] {}, const std::function<void()>& stopping = [] {});
  void RequestStop() { stop_.store(true, std::memory_order_relaxed); }

  // One turn of the loop; returns how long it wants to rest.
  Nanos Step();
  // Retires all rings that belong to the dead, sends what is known, stops the uplink.
  void Drain();

  // Of the HTTP server; 0 when it is off.
  std::uint16_t http_port() const { return http_ == nullptr ? 0 : http_->port(); }
  const AgentTotals& totals() const { return totals_; }
  bool connected() const { return link_ != nullptr && link_->connected(); }
  std::size_t sessions() const { return sessions_.size(); }
  const NodePlan& plan() const { return planner_.plan(); }

 private:
  struct Retired {
    std::unique_ptr<RankSession> session;
    std::int64_t since_ns = 0;
  };

  bool SomebodyExited() const;
  Nanos Rest(std::uint64_t records, std::int64_t now_ns);
  std::uint64_t PollAll(std::int64_t now_ns);
  // Another process is rank 0 of the same job, and this one is alone in it.
  bool NameIsTaken(const RankSession& session) const;
  void Announce(const RankSession& session, const std::vector<std::uint16_t>& groups);
  void AnnounceGroup(const RankSession& session, std::uint16_t slot);
  void Scan(std::int64_t now_ns);
  void Open(OpenedRing ring);
  bool Superseded(const RankSession& session) const;
  void RetireSession(const std::string& name, bool remove, std::int64_t now_ns);
  void SendSummaries(RankSession& session);
  void SendFacts();
  void StreamOps(std::int64_t now_ns);
  std::set<std::string> SilentJobs(std::int64_t now_ns) const;
  void LookBelow(const RankSession& session, std::optional<ProcessTree>& tree,
                 v1::RankHealth& health) const;
  void SendHealth(std::int64_t now_ns);
  void LookAtHardware(std::int64_t now_ns, v1::HealthBatch& health);
  void SendCounters();
  static void AddToTotals(const RankSession& session, AgentTotals& totals);
  void UpdateTotals();
  void LookAtPlan(std::int64_t now_ns);
  void ObserveRings(double seconds, Observed& seen);
  Observed Observe(std::int64_t now_ns);
  // As the plan's paces say.
  void KeepPaces();
  void KeepPacesOf(RankSession& session) const;
  void SendPlan();
  void AnswerRequests();
  void CarryOutOrders(std::int64_t now_ns);
  RankSession* SessionOf(const std::string& job, std::uint32_t rank);
  std::string WhyNotReady() const;
  std::int64_t MonoToWall() const;
  // Into the recording, where there is one.
  void Record(const v1::AgentMessage& message);
  RecordingMoment Moment() const { return {world_.mono_now(), world_.wall_now()}; }

  const Settings settings_;
  const AgentWorld world_;
  const std::string node_;
  CostMeter meter_;
  NodePlanner planner_;
  SessionSettings session_settings_;
  RingDirectory directory_;
  std::unique_ptr<StackWatch> stacks_;  // null: off
  SocketWatch sockets_;
  TransferWatch transfers_;
  FactsWatch facts_;
  std::unique_ptr<HardwareWatch> hardware_;  // null: off
  NodeFactsReader node_facts_;
  AgentMetrics metrics_;
  std::unique_ptr<Spool> spool_;
  Outbox outbox_;
  Orders orders_;
  OpStream ops_;
  ProbeOrders probes_;
  std::unique_ptr<CollectorLink> link_;
  std::unique_ptr<Recorder> recorder_;                            // none unless asked for
  std::map<std::string, std::unique_ptr<RankSession>> sessions_;  // by ring file name
  std::deque<Retired> retired_;  // still asked for their rows for a while
  AgentTotals totals_;
  AgentTotals ended_totals_;  // of sessions that are no more
  std::int64_t next_scan_ns_ = 0;
  std::int64_t next_health_ns_ = 0;
  std::int64_t next_counters_ns_ = 0;
  std::int64_t next_plan_ns_ = 0;
  std::int64_t planned_ns_ = 0;                  // when the plan was last looked at
  Nanos rest_;                                   // of the last turn, before the plan stretches it
  std::vector<double> rows_bytes_;               // of answers, since the last look at the plan
  std::map<std::string, std::uint64_t> read_;    // records of a ring at the last look
  std::map<std::string, std::uint64_t> logged_;  // ops likewise
  std::uint64_t planned_bytes_ = 0;              // sent, at the last look
  OpStreamCounters planned_ops_;
  std::int64_t last_record_ns_ = 0;
  bool said_over_limit_ = false;
  bool said_no_folder_ = false;
  int rejections_said_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<bool> folder_ok_{false};
  std::atomic<std::int64_t> last_step_ns_{0};
  std::unique_ptr<HttpServer> http_;  // last: its threads look at the others
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_AGENT_H_
