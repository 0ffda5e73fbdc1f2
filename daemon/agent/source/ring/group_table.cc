#include "daemon/agent/source/ring/group_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "daemon/agent/source/ring/byte_field.h"
#include "daemon/agent/source/ring/region_header_check.h"
#include "proto/types/bounds.h"

namespace fathom::agent {
namespace {

using abi::GroupSlot;
using Bytes = std::span<const unsigned char>;

constexpr std::uint32_t kStateReady = 2;
constexpr std::uint32_t kStateGone = 3;

bool Believable(std::uint32_t state) { return state == kStateReady || state == kStateGone; }

std::uint32_t StateOf(Bytes slot) {
  return FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, state));
}

// Each global rank is in the group once; a group with a rank twice is garbage.
bool Distinct(std::vector<std::uint32_t> members) {
  std::sort(members.begin(), members.end());
  return std::adjacent_find(members.begin(), members.end()) == members.end();
}

Bytes SlotOf(Bytes all, std::uint32_t index) {
  return all.subspan(index * sizeof(GroupSlot), sizeof(GroupSlot));
}

// 0 where it makes no sense.
std::int64_t StoppedAt(Bytes slot) {
  const auto told = FieldAt<std::uint64_t>(slot, offsetof(GroupSlot, stopped_ns));
  return told <= static_cast<std::uint64_t>(kFarMonoNs) ? static_cast<std::int64_t>(told) : 0;
}

}  // namespace

absl::Status GroupTable::Refresh(std::uint32_t count) {
  if (count == 0) return absl::OkStatus();
  if (absl::Status status = region_.ReadGroupSlots(count, first_look_); !status.ok()) return status;
  groups_.resize(std::max<std::size_t>(groups_.size(), count));
  bool news = false;
  for (std::uint32_t i = 0; i < count && !news; ++i) {
    news = !groups_[i].ready || TellsDevice(i, SlotOf(first_look_, i));
  }
  if (news) {
    absl::Status status = region_.ReadGroupSlots(count, second_look_);
    if (!status.ok()) return status;
  }
  progress_.resize(groups_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const Bytes slot = SlotOf(first_look_, i);
    if (!groups_[i].ready && Believable(StateOf(slot))) TakeSlot(i, SlotOf(second_look_, i));
    if (TellsDevice(i, slot)) TakeDevice(SlotOf(second_look_, i), groups_[i]);
    groups_[i].gone = groups_[i].ready && StateOf(slot) == kStateGone;
    progress_[i] = {.entered = FieldAt<std::uint64_t>(slot, offsetof(GroupSlot, entered)),
                    .started = FieldAt<std::uint64_t>(slot, offsetof(GroupSlot, started)),
                    .completed = FieldAt<std::uint64_t>(slot, offsetof(GroupSlot, completed)),
                    .stopped_ns = StoppedAt(slot)};
  }
  return absl::OkStatus();
}

// In a first look: its words are taken from the second.
bool GroupTable::TellsDevice(std::uint32_t index, Bytes slot) const {
  const GroupFacts& facts = groups_[index];
  return facts.ready && !facts.device_told &&
         FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, device)) != 0;
}

void GroupTable::TakeDevice(Bytes slot, GroupFacts& facts) {
  facts.device_told = true;
  const auto device = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, device));
  const Bytes told = slot.subspan(offsetof(GroupSlot, bus_id), abi::kBusIdBytes);
  const std::size_t length = std::find(told.begin(), told.end(), 0) - told.begin();
  Gpu gpu{device - 1, std::string(told.begin(), told.begin() + length), ""};
  if (gpu.number <= kMaxGpuNumber && (gpu.bus_id.empty() || IsPciBusId(gpu.bus_id))) {
    facts.gpu = std::move(gpu);
  } else {
    ++devices_rejected_;
  }
}

void GroupTable::TakeSlot(std::uint32_t index, Bytes slot) {
  if (!Believable(StateOf(slot))) return;
  GroupFacts facts;
  facts.ready = true;
  facts.ordinal = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, ordinal));
  facts.size = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, size));
  facts.my_rank = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, my_rank));
  facts.backend = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, backend));
  facts.address = FieldAt<std::uint64_t>(slot, offsetof(GroupSlot, address));
  facts.name = TextField(slot.subspan(offsetof(GroupSlot, name), abi::kNameBytes));
  facts.description = TextField(slot.subspan(offsetof(GroupSlot, description), abi::kNameBytes));
  std::optional<std::vector<std::uint32_t>> members = MembersOf(slot);
  if (members.has_value()) {
    facts.members = *std::move(members);
  } else {
    ++members_rejected_;
  }
  groups_[index] = std::move(facts);
}

// Members, empty if the tracer could not learn them, nothing if what it wrote makes no sense.
std::optional<std::vector<std::uint32_t>> GroupTable::MembersOf(Bytes slot) {
  const auto form = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, member_form));
  const auto count = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, member_count));
  const auto size = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, size));
  if (form == static_cast<std::uint32_t>(abi::MemberForm::kUnknown)) return std::vector<uint32_t>();
  if (count != size || count == 0 || count > kMaxMembers) return std::nullopt;
  std::vector<std::uint32_t> members;
  if (form == static_cast<std::uint32_t>(abi::MemberForm::kStrided)) {
    const auto first = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, member_first));
    const auto stride = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, member_stride));
    const std::uint64_t last = first + std::uint64_t{stride} * (count - 1);
    if (last >= abi::kNoPeer || (stride == 0 && count > 1)) return std::nullopt;
    for (std::uint32_t i = 0; i < count; ++i) members.push_back(first + i * stride);
    return members;
  }
  if (form != static_cast<std::uint32_t>(abi::MemberForm::kListed)) return std::nullopt;
  const auto offset = FieldAt<std::uint32_t>(slot, offsetof(GroupSlot, member_offset));
  const std::uint64_t bytes = std::uint64_t{count} * sizeof(std::uint32_t);
  if (offset + bytes > abi::kMemberArenaBytes) return std::nullopt;
  std::vector<unsigned char> raw(bytes);
  if (!region_.ReadArena(offset, raw).ok()) return std::nullopt;
  members.resize(count);
  std::memcpy(members.data(), raw.data(), raw.size());
  return Distinct(members) ? std::optional(std::move(members)) : std::nullopt;
}

}  // namespace fathom::agent
