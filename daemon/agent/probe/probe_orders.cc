#include "daemon/agent/probe/probe_orders.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"

namespace fathom::agent {
namespace {

std::string TrainingRuns(std::size_t traced) {
  return absl::StrCat("training runs here: ", traced,
                      traced == 1 ? " traced process" : " traced processes");
}

}  // namespace

bool ProbeOrders::SwitchedOff() const {
  return !off_file_.empty() && access(off_file_.c_str(), F_OK) == 0;
}

std::string ProbeOrders::WhyNot(const v1::ProbeOrder& order, std::size_t traced) const {
  if (runner_ == nullptr) return "this agent runs no probes (--probe-tool)";
  if (SwitchedOff()) return absl::StrCat("switched off by ", off_file_);
  if (runner_->busy()) return "another probe is under way on this node";
  if (traced > 0 && !order.beside_training()) return TrainingRuns(traced);
  return "";
}

void ProbeOrders::Carry(const v1::ProbeOrder& order, std::size_t traced, std::int64_t now_wall_ns) {
  if (order.stop()) {
    const bool it = runner_ != nullptr && order_.request_id() == order.request_id();
    if (it) runner_->Stop("stopped by an operator");
    return;
  }
  const std::string why = WhyNot(order, traced);
  if (why.empty()) {
    order_ = order;
    runner_->Begin(order, now_wall_ns);
    return;
  }
  v1::ProbeAnswer answer;
  answer.set_request_id(order.request_id());
  answer.set_refused(why);
  answer.set_began_wall_ns(now_wall_ns);
  Send(std::move(answer));
}

void ProbeOrders::Report(std::size_t traced) {
  if (runner_ == nullptr || !runner_->busy()) return;
  if (SwitchedOff()) runner_->Stop(absl::StrCat("switched off by ", off_file_));
  if (traced > 0 && !order_.beside_training()) runner_->Stop(TrainingRuns(traced));
  if (auto answer = runner_->Take()) Send(*std::move(answer));
}

void ProbeOrders::Send(v1::ProbeAnswer answer) {
  v1::AgentMessage message;
  *message.mutable_probe() = std::move(answer);
  outbox_.PutDurable(std::move(message));
}

}  // namespace fathom::agent
