// Measures this node when the centre orders it, and never beside training unless the order says so.
//
// Owned by Agent, which tells it several times a second how many traced processes live here.
//
//   order ─► refused (no program, switched off, training runs, another is under way)
//         └► fathom-probe runs ─► its lines, or why it was stopped: ordered so, switched off,
//            a traced process began
//
// The kill switch is a file: where it is, nothing is begun, and what runs is killed.
//
// Thread-safety: the poll loop's. Ownership: refers to the outbox; owns what runs the program.
// Errors: go up as answers, in words. Cost: a look for the file each turn of the poll loop while a
// probe runs.
#ifndef FATHOM_DAEMON_AGENT_PROBE_PROBE_ORDERS_H_
#define FATHOM_DAEMON_AGENT_PROBE_PROBE_ORDERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/agent/probe/probe_runner.h"
#include "daemon/agent/uplink/outbox.h"

namespace fathom::agent {

class ProbeOrders {
 public:
  // `off_file`: the kill switch; empty: there is none.
  ProbeOrders(Outbox& outbox, std::string off_file)
      : outbox_(outbox), off_file_(std::move(off_file)) {}
  // Without it this node is not probed.
  void ProbeWith(ProbeRunner::Tool tool) {
    runner_ = std::make_unique<ProbeRunner>(std::move(tool));
  }

  void Carry(const v1::ProbeOrder& order, std::size_t traced, std::int64_t now_wall_ns);
  // Stops what must not go on, and sends what is done.
  void Report(std::size_t traced);

 private:
  std::string WhyNot(const v1::ProbeOrder& order, std::size_t traced) const;
  bool SwitchedOff() const;
  void Send(v1::ProbeAnswer answer);

  Outbox& outbox_;
  const std::string off_file_;
  std::unique_ptr<ProbeRunner> runner_;  // null: none
  v1::ProbeOrder order_;                 // under way
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PROBE_PROBE_ORDERS_H_
