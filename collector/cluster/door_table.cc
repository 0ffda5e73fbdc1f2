#include "collector/cluster/door_table.h"

#include <algorithm>
#include <utility>

#include "fathom/v1/bus.pb.h"

namespace fathom::collector {

std::uint64_t DoorTable::Add(std::weak_ptr<RowsChannel> channel,
                             std::shared_ptr<std::atomic<bool>> again) {
  const service::MutexLock lock(mutex_);
  newest_ = std::max(newest_ + 1, static_cast<std::uint64_t>(clock_.Wall().ns));
  entries_[newest_] = {std::move(channel), std::move(again)};
  return newest_;
}

void DoorTable::Remove(std::uint64_t connection) {
  const service::MutexLock lock(mutex_);
  entries_.erase(connection);
}

bool DoorTable::Pass(const v1::BusOrder& order) {
  Entry entry;
  {
    const service::MutexLock lock(mutex_);
    const auto at = entries_.find(order.connection());
    if (at == entries_.end()) return false;
    entry = at->second;
  }
  if (order.announce_again()) *entry.again = true;
  const auto channel = entry.channel.lock();
  if (channel == nullptr) return false;
  const v1::CollectorMessage& message = order.order();
  switch (message.body_case()) {
    case v1::CollectorMessage::kRows:
      return channel->Send(message.rows());
    case v1::CollectorMessage::kWindow:
      return channel->SendWindow(message.window());
    case v1::CollectorMessage::kTrace:
      return channel->SendTrace(message.trace());
    case v1::CollectorMessage::kStacks:
      return channel->SendStacks(message.stacks());
    case v1::CollectorMessage::kCapture:
      return channel->SendCapture(message.capture());
    case v1::CollectorMessage::kProbe:
      return channel->SendProbe(message.probe());
    case v1::CollectorMessage::kHello:
    case v1::CollectorMessage::BODY_NOT_SET:
      break;
  }
  return order.announce_again();
}

}  // namespace fathom::collector
