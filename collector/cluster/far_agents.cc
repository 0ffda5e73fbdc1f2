#include "collector/cluster/far_agents.h"

#include <utility>

#include "collector/cluster/bus_message.h"
#include "fathom/v1/agent.pb.h"

namespace fathom::collector {
namespace {

constexpr std::uint64_t kFarSession = std::uint64_t{1} << 63;  // no stream of this collector

// Orders to an agent that is connected to some door.
class FarChannel final : public RowsChannel {
 public:
  FarChannel(Bus& bus, ClusterCounters& counters, std::string node, std::string door,
             std::uint64_t connection)
      : bus_(bus),
        counters_(counters),
        node_(std::move(node)),
        door_(std::move(door)),
        connection_(connection) {}

  bool Pass(v1::CollectorMessage message) override {
    v1::BusOrder order;
    *order.mutable_order() = std::move(message);
    order.set_node(node_);
    order.set_connection(connection_);
    ++counters_.orders;
    bus_.Tell(OrdersTo(door_), BusBytes(std::move(order)));
    return bus_.failing().empty();
  }

 private:
  Bus& bus_;
  ClusterCounters& counters_;
  const std::string node_, door_;
  const std::uint64_t connection_;
};

}  // namespace

std::shared_ptr<FarAgents::Agent> FarAgents::AgentOf(const std::string& node) {
  const service::MutexLock lock(mutex_);
  auto& agent = agents_[node];
  if (agent == nullptr) agent = std::make_shared<Agent>();
  return agent;
}

// Requires: the agent's mutex is held.
void FarAgents::Connect(const v1::BusRecord& record, Agent& agent) {
  const bool same = agent.door == record.door() && agent.connection == record.connection();
  if (same && agent.session != nullptr) return;
  agent.door = record.door();
  agent.connection = record.connection();
  agent.told_again = false;
  auto channel = std::make_shared<FarChannel>(bus_, counters_, record.hello().node(), record.door(),
                                              record.connection());
  Witness witness;
  witness.identity = record.identity();
  auto session = std::make_unique<AgentSession>(kFarSession | ++sessions_, ingest_, channel,
                                                std::move(witness));
  if (record.authenticated()) session->Authenticate();
  v1::AgentMessage hello;
  *hello.mutable_hello() = record.hello();
  session->OnMessage(hello);
  // In this order: the node is connected all the time.
  agent.session = std::move(session);
  agent.channel = std::move(channel);
}

// Requires: the agent's mutex is held.
void FarAgents::AskAgain(const v1::BusRecord& record, Agent& agent) {
  if (std::exchange(agent.told_again, true)) return;
  ++counters_.announce_again;
  v1::BusOrder order;
  order.set_node(record.hello().node());
  order.set_connection(record.connection());
  order.set_announce_again(true);
  bus_.Tell(OrdersTo(record.door()), BusBytes(std::move(order)));
}

bool FarAgents::Take(const v1::BusRecord& record, From from) {
  const auto agent = AgentOf(record.hello().node());
  const service::MutexLock lock(agent->mutex);
  if (!record.has_message()) {
    const bool present = agent->door == record.door() && agent->connection == record.connection();
    if (present) agent->session.reset();
    return false;
  }
  Connect(record, *agent);
  const StreamSession::Outcome outcome = agent->session->OnMessage(record.message());
  const AgentSession::Last last = agent->session->last();
  if (from == From::kLog && (outcome.close || last.unwanted == RejectReason::kUnknownRank)) {
    AskAgain(record, *agent);
  }
  return last.anew;
}

}  // namespace fathom::collector
