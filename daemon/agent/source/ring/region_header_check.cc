#include "daemon/agent/source/ring/region_header_check.h"

#include <bit>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "daemon/abi/ring_layout.h"
#include "daemon/agent/source/ring/byte_field.h"
#include "proto/types/bounds.h"

namespace fathom::agent {
namespace {

using abi::RegionHeader;

absl::Status Refuse(const char* field, std::uint64_t got, std::uint64_t want) {
  return absl::InvalidArgumentError(
      absl::StrCat("region header: ", field, " is ", got, ", expected ", want));
}

absl::Status Impossible(const char* field, std::uint64_t got) {
  return absl::InvalidArgumentError(
      absl::StrCat("region header: ", field, " is ", got, ", which no clock tells"));
}

template <typename T>
absl::Status Expect(std::span<const unsigned char> page, std::size_t offset, const char* field,
                    std::uint64_t want) {
  const std::uint64_t got = FieldAt<T>(page, offset);
  return got == want ? absl::OkStatus() : Refuse(field, got, want);
}

absl::Status CheckLayout(std::span<const unsigned char> page) {
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  const absl::Status all[] = {
      Expect<U32>(page, offsetof(RegionHeader, record_bytes), "record_bytes",
                  sizeof(abi::EventRecord)),
      Expect<U64>(page, offsetof(RegionHeader, control_offset), "control_offset",
                  abi::kControlOffset),
      Expect<U64>(page, offsetof(RegionHeader, groups_offset), "groups_offset", abi::kGroupsOffset),
      Expect<U32>(page, offsetof(RegionHeader, group_slots), "group_slots", abi::kGroupSlots),
      Expect<U32>(page, offsetof(RegionHeader, group_bytes), "group_bytes", sizeof(abi::GroupSlot)),
      Expect<U64>(page, offsetof(RegionHeader, arena_offset), "arena_offset", abi::kArenaOffset),
      Expect<U64>(page, offsetof(RegionHeader, arena_bytes), "arena_bytes", abi::kMemberArenaBytes),
      Expect<U64>(page, offsetof(RegionHeader, records_offset), "records_offset",
                  abi::kRecordsOffset),
  };
  for (const absl::Status& status : all) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Points in time that ages can be reckoned from.
absl::Status CheckTimes(std::span<const unsigned char> page) {
  constexpr auto kFarNs = static_cast<std::uint64_t>(kFarWallNs);
  const auto mono = FieldAt<std::uint64_t>(page, offsetof(RegionHeader, created_mono_ns));
  if (mono > kFarNs) return Impossible("created_mono_ns", mono);
  const auto wall = FieldAt<std::uint64_t>(page, offsetof(RegionHeader, created_wall_ns));
  return wall > kFarNs ? Impossible("created_wall_ns", wall) : absl::OkStatus();
}

absl::Status CheckSize(std::span<const unsigned char> page, std::uint64_t file_bytes) {
  const auto records = FieldAt<std::uint32_t>(page, offsetof(RegionHeader, record_count));
  if (!std::has_single_bit(records) || records < abi::kMinRecords || records > abi::kMaxRecords) {
    return absl::InvalidArgumentError(absl::StrCat("region header: record_count is ", records,
                                                   ", expected a power of two from ",
                                                   abi::kMinRecords, " to ", abi::kMaxRecords));
  }
  const std::uint64_t want = abi::RegionBytes(records);
  const auto said = FieldAt<std::uint64_t>(page, offsetof(RegionHeader, region_bytes));
  if (said != want) return Refuse("region_bytes", said, want);
  if (file_bytes < want) return Refuse("the file's size", file_bytes, want);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckHeader(std::span<const unsigned char> page, std::uint64_t file_bytes) {
  const auto magic = FieldAt<std::uint64_t>(page, offsetof(RegionHeader, magic));
  const auto ready = FieldAt<std::uint32_t>(page, offsetof(RegionHeader, ready));
  if (ready != 1 && (magic == 0 || magic == abi::kMagic)) {
    return absl::UnavailableError("region header: not ready yet");
  }
  if (magic != abi::kMagic) return Refuse("magic", magic, abi::kMagic);
  const auto major = FieldAt<std::uint16_t>(page, offsetof(RegionHeader, version_major));
  if (major != abi::kVersionMajor) return Refuse("version_major", major, abi::kVersionMajor);
  const auto header = FieldAt<std::uint32_t>(page, offsetof(RegionHeader, header_bytes));
  if (header < abi::kFirstHeaderBytes || header > abi::kPageBytes) {
    return Refuse("header_bytes", header, abi::kFirstHeaderBytes);
  }
  for (const absl::Status& status : {CheckLayout(page), CheckTimes(page)}) {
    if (!status.ok()) return status;
  }
  return CheckSize(page, file_bytes);
}

std::string TextField(std::span<const unsigned char> field) {
  std::string text;
  for (const unsigned char c : field) {
    if (c == 0) break;
    text.push_back(c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '?');
  }
  return text;
}

}  // namespace fathom::agent
