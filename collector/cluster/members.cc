#include "collector/cluster/members.h"

#include <algorithm>

#include "collector/cluster/bus_message.h"

namespace fathom::collector {

absl::Status Members::Start() {
  auto hearing = bus_.Hear(kMembersTopic, [this](std::string_view bytes) { OnWord(bytes); });
  if (hearing.ok()) hearing_ = *std::move(hearing);
  return hearing.status();
}

void Members::Say(v1::BusMember member) {
  member.set_name(me_);
  bus_.Tell(kMembersTopic, BusBytes(std::move(member)));
}

void Members::OnWord(std::string_view bytes) {
  auto member = ReadBus<v1::BusMember>(bytes, counters_);
  if (!member || member->name() == me_) return;
  const service::MutexLock lock(mutex_);
  if (member->leaves()) {
    known_.erase(member->name());
    return;
  }
  std::erase_if(known_, [this](const auto& each) { return !Lives(each.second); });
  Known& known = known_[member->name()];
  known.said = *std::move(member);
  known.when = clock_.Mono();
}

std::vector<std::string> Members::Others() const {
  const service::MutexLock lock(mutex_);
  std::vector<std::string> others;
  for (const auto& [name, known] : known_) {
    if (Lives(known)) others.push_back(name);
  }
  return others;
}

std::size_t Members::Before(std::size_t jobs) const {
  const service::MutexLock lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(known_.begin(), known_.end(), [&](const auto& each) {
        if (!Lives(each.second)) return false;
        const std::size_t theirs = each.second.said.jobs();
        return theirs < jobs || (theirs == jobs && each.first < me_);
      }));
}

bool Members::AnybodyListens() const {
  const service::MutexLock lock(mutex_);
  return std::any_of(known_.begin(), known_.end(), [this](const auto& each) {
    return Lives(each.second) && each.second.said.listened();
  });
}

}  // namespace fathom::collector
