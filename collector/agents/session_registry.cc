#include "collector/agents/session_registry.h"

#include <algorithm>
#include <utility>

#include "fathom/v1/agent.pb.h"

namespace fathom::collector {
namespace {

// Counters are cumulative; one that fell belongs to a new process.
std::uint64_t Grown(std::uint64_t& last, std::uint64_t now) {
  const std::uint64_t by = now >= last ? now - last : now;
  last = now;
  return by;
}

template <typename Part>
v1::CollectorMessage MessageOf(Part* (v1::CollectorMessage::*mutable_part)(), const Part& part) {
  v1::CollectorMessage message;
  *(message.*mutable_part)() = part;
  return message;
}

}  // namespace

bool RowsChannel::Send(const v1::RowsRequest& request) {
  return Pass(MessageOf(&v1::CollectorMessage::mutable_rows, request));
}

bool RowsChannel::SendWindow(const v1::WindowRequest& request) {
  return Pass(MessageOf(&v1::CollectorMessage::mutable_window, request));
}

bool RowsChannel::SendTrace(const v1::TraceOrder& order) {
  return Pass(MessageOf(&v1::CollectorMessage::mutable_trace, order));
}

bool RowsChannel::SendStacks(const v1::StackRequest& request) {
  return Pass(MessageOf(&v1::CollectorMessage::mutable_stacks, request));
}

bool RowsChannel::SendCapture(const v1::CaptureRequest& request) {
  return Pass(MessageOf(&v1::CollectorMessage::mutable_capture, request));
}

bool RowsChannel::SendProbe(const v1::ProbeOrder& order) {
  return Pass(MessageOf(&v1::CollectorMessage::mutable_probe, order));
}

Rejection SessionRegistry::Connect(std::uint64_t session, const v1::Hello& hello,
                                   std::weak_ptr<RowsChannel> channel,
                                   const std::string& identity) {
  const service::MutexLock lock(mutex_);
  const MonoNs now = clock_.Mono();
  if (agents_.size() >= kMaxNodes) ForgetOld(now);
  if (agents_.size() >= kMaxNodes && !agents_.contains(hello.node())) {
    return RejectReason::kTooManyNodes;
  }
  Entry& entry = agents_[hello.node()];
  if (entry.facts.connected && entry.identity != identity) return RejectReason::kWrongName;
  entry.identity = identity;
  entry.session = session;
  entry.channel = std::move(channel);
  entry.seen_mono = now;
  entry.facts.node = hello.node();
  entry.facts.version = hello.version();
  entry.facts.cores = hello.cores();
  entry.facts.connected = true;
  entry.facts.last_seen = clock_.Wall();
  return std::nullopt;
}

void SessionRegistry::Disconnect(std::uint64_t session, std::string_view node) {
  const service::MutexLock lock(mutex_);
  const auto at = agents_.find(node);
  // Another stream of this node may have taken over.
  if (at == agents_.end() || at->second.session != session) return;
  at->second.facts.connected = false;
  at->second.channel.reset();
  ForgetOld(clock_.Mono());
}

void SessionRegistry::ForgetOld(MonoNs now) {
  std::erase_if(agents_, [&](const auto& entry) {
    return !entry.second.facts.connected && now - entry.second.seen_mono > kForgetAfter;
  });
}

void SessionRegistry::Seen(std::string_view node) {
  const service::MutexLock lock(mutex_);
  const auto at = agents_.find(node);
  if (at == agents_.end()) return;
  at->second.facts.last_seen = clock_.Wall();
  at->second.seen_mono = clock_.Mono();
}

void SessionRegistry::Health(std::string_view node, const v1::NodeHealth& health) {
  const service::MutexLock lock(mutex_);
  const auto at = agents_.find(node);
  if (at == agents_.end()) return;
  AgentFacts& facts = at->second.facts;
  facts.health_known = true;
  facts.cpu_busy_ratio = health.cpu_busy_ratio();
  facts.load1 = health.load1();
  facts.pressure_cpu = health.pressure_cpu_some_ratio();
  facts.pressure_memory = health.pressure_memory_some_ratio();
  facts.pressure_io = health.pressure_io_some_ratio();
  facts.memory_available_bytes = health.memory_available_bytes();
}

void SessionRegistry::Counters(std::string_view node, const v1::AgentCounters& counters) {
  const service::MutexLock lock(mutex_);
  const auto at = agents_.find(node);
  if (at == agents_.end()) return;
  Entry& entry = at->second;
  totals_.records += Grown(entry.records, counters.records());
  totals_.messages_dropped += Grown(entry.messages_dropped, counters.messages_dropped());
  AddGrown(counters.records_dropped(), entry.dropped, totals_.records_dropped);
  if (AddGrown(counters.messages_shed(), entry.shed, totals_.messages_shed)) {
    entry.shed_mono = clock_.Mono();
  }
}

void SessionRegistry::Plan(std::string_view node, const v1::NodePlan& plan) {
  auto kept = std::make_shared<const v1::NodePlan>(plan);
  const service::MutexLock lock(mutex_);
  const auto at = agents_.find(node);
  if (at != agents_.end()) at->second.facts.plan = std::move(kept);
}

template <typename Told>
bool SessionRegistry::AddGrown(const Told& told, Counts& last, Counts& total) {
  bool grown = false;
  for (const auto& [name, count] : told) {
    const bool named = total.size() < kMaxReasons || total.contains(name);
    const std::string& label = named ? name : std::string("other");
    if (last.size() >= kMaxReasons && !last.contains(name)) continue;
    const std::uint64_t more = Grown(last[name], count);
    total[label] += more;
    grown = grown || more > 0;
  }
  return grown;
}

std::size_t SessionRegistry::Shedding(const std::set<std::string>& nodes) const {
  const service::MutexLock lock(mutex_);
  const MonoNs now = clock_.Mono();
  return static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(),
                    [&](const std::string& node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                      const auto at = agents_.find(node);
                      return at != agents_.end() && at->second.shed_mono.known() &&
                             now - at->second.shed_mono < kSheddingFor;
                    }));
}

bool SessionRegistry::Connected(std::string_view node) const {
  const service::MutexLock lock(mutex_);
  const auto at = agents_.find(node);
  return at != agents_.end() && at->second.facts.connected;
}

std::shared_ptr<RowsChannel> SessionRegistry::ChannelOf(std::string_view node) const {
  const service::MutexLock lock(mutex_);
  const auto at = agents_.find(node);
  return at == agents_.end() ? nullptr : at->second.channel.lock();
}

std::vector<AgentFacts> SessionRegistry::Agents() const {
  const service::MutexLock lock(mutex_);
  std::vector<AgentFacts> agents;
  agents.reserve(agents_.size());
  for (const auto& [node, entry] : agents_) agents.push_back(entry.facts);
  return agents;
}

std::size_t SessionRegistry::connected_count() const {
  const service::MutexLock lock(mutex_);
  std::size_t count = 0;
  for (const auto& [node, entry] : agents_) count += entry.facts.connected;
  return count;
}

AgentTotals SessionRegistry::Totals() const {
  const service::MutexLock lock(mutex_);
  return totals_;
}

}  // namespace fathom::collector
