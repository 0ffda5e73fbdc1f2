#include "daemon/agent/pipeline/thread_roles.h"

#include <algorithm>

namespace fathom::agent {

const ThreadRoles::Thread* ThreadRoles::Find(std::uint32_t tid) const {
  const auto at = std::find_if(threads_.begin(), threads_.end(),
                               [tid](const Thread& thread) { return thread.tid == tid; });
  return at == threads_.end() ? nullptr : &*at;
}

ThreadRoles::Thread* ThreadRoles::Find(std::uint32_t tid) {
  const auto at = std::find_if(threads_.begin(), threads_.end(),
                               [tid](const Thread& thread) { return thread.tid == tid; });
  return at == threads_.end() ? nullptr : &*at;
}

void ThreadRoles::Use(std::uint16_t slot, Thread& thread) {
  std::uint32_t& user = user_[slot];
  if (user == kNobody) user = thread.tid;
  if (user == thread.tid) return;
  if (Thread* other = Find(user); other != nullptr) other->shares = true;
  thread.shares = true;
  user = kShared;
}

void ThreadRoles::Take(const abi::EventRecord& record) {
  const bool entry = record.record_kind == static_cast<std::uint8_t>(abi::RecordKind::kOpEnter);
  if (!entry || record.group_slot >= abi::kGroupSlots || too_many_) return;
  Thread* thread = Find(record.thread_id);
  if (thread == nullptr) {
    too_many_ = threads_.size() >= kMostThreads;
    if (too_many_) return;
    thread = &threads_.emplace_back(Thread{record.thread_id, false, false});
  }
  const bool unknown = (record.flags & abi::kFlagBytesUnknown) != 0;
  if (unknown || record.bytes > kLightBytes) {
    const bool on_device = (record.flags & abi::kFlagDevice) != 0;
    thread->carries = data_is_carried_ = true;
    ends_are_told_ = !on_device || (record.flags & abi::kFlagAsync) != 0;
  }
  Use(record.group_slot, *thread);
}

// It carries none itself, so the data is another thread's.
bool ThreadRoles::IsBeside(const Thread& thread) const {
  return data_is_carried_ && ends_are_told_ && thread.tid != main_ && !thread.carries &&
         !thread.shares;
}

bool ThreadRoles::AnyBeside() const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [this](const Thread& thread) { return IsBeside(thread); });
}

bool ThreadRoles::IsBeside(std::uint16_t slot) const {
  if (slot >= abi::kGroupSlots || too_many_ || main_ == 0) return false;
  if (user_[slot] == kNobody || user_[slot] == kShared) return false;
  const Thread* thread = Find(user_[slot]);
  return thread != nullptr && IsBeside(*thread);
}

bool ThreadRoles::IsBeside(const abi::EventRecord& record) const {
  if (record.group_slot != abi::kNoGroupSlot) return IsBeside(record.group_slot);
  if (too_many_ || main_ == 0) return false;
  const Thread* thread = Find(record.thread_id);
  return thread != nullptr ? IsBeside(*thread) : AnyBeside();
}

}  // namespace fathom::agent
