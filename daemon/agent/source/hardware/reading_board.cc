#include "daemon/agent/source/hardware/reading_board.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace fathom::agent {

void ReadingBoard::Put(std::vector<Reading> readings) {
  for (Reading& reading : readings) {
    const Key key(reading.kind, std::move(reading.device), reading.metric);
    if (entries_.size() >= kMostReadings && !entries_.contains(key)) {
      ++left_out_;
      continue;
    }
    Entry& entry = entries_[key];
    entry.value = reading.value;
    entry.note = std::move(reading.note);
    entry.sampled = true;
  }
}

bool ReadingBoard::WorthTelling(HardwareMetric metric, const Entry& entry, MonoNs now) {
  if (!entry.told || entry.note != entry.told_note) return true;
  if (entry.value == entry.told_value) return false;
  const MetricTraits traits = TraitsOf(metric);
  if (traits.counter) return now - entry.told_at >= kCounterGap;
  const double larger = std::max(std::abs(entry.value), std::abs(entry.told_value));
  const double moved = std::abs(entry.value - entry.told_value);
  return moved >= traits.absolute && moved >= traits.relative * larger;
}

void ReadingBoard::Forget(MonoNs now) {
  for (auto& [key, entry] : entries_) {
    if (std::exchange(entry.sampled, false)) entry.sampled_at = now;
  }
  std::erase_if(entries_, [&](const auto& each) {
    const DeviceKind kind = std::get<DeviceKind>(each.first);
    const bool goes = kind == DeviceKind::kProcess || kind == DeviceKind::kConnection;
    return goes && now - each.second.sampled_at > kForgetAfter;
  });
}

ReadingBoard::News ReadingBoard::Take(MonoNs now) {
  News news;
  Forget(now);
  if (entries_.empty()) return news;
  news.whole = !whole_at_.known() || now - whole_at_ >= kWholeEvery;
  if (news.whole) whole_at_ = now;
  for (auto& [key, entry] : entries_) {
    const auto& [kind, device, metric] = key;
    if (!news.whole && !WorthTelling(metric, entry, now)) continue;
    entry.told = true;
    entry.told_value = entry.value;
    entry.told_note = entry.note;
    entry.told_at = now;
    news.readings.push_back({kind, device, metric, entry.value, entry.note});
  }
  return news;
}

}  // namespace fathom::agent
