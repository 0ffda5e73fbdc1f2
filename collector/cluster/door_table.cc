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
  const auto what = order.order().body_case();
  const bool ordered =
      what != v1::CollectorMessage::BODY_NOT_SET && what != v1::CollectorMessage::kHello;
  return ordered ? channel->Pass(order.order()) : order.announce_again();
}

}  // namespace fathom::collector
