#include "collector/journal/journal_record.h"

#include <cstring>

namespace fathom::collector {
namespace {

// First byte of a record.
constexpr char kTold = 'M';
constexpr char kConcluded = 'E';

// Second byte of what was told.
constexpr char kAuthenticated = 1;
constexpr char kAnew = 2;

constexpr std::size_t kFlagsAt = 1;
constexpr std::size_t kWhenAt = 2;
constexpr std::size_t kNamesAt = kWhenAt + sizeof(std::int64_t);

void PutName(std::string& record, const std::string& name) {
  const auto length = static_cast<std::uint16_t>(name.size());
  record.append(reinterpret_cast<const char*>(&length), sizeof(length));
  record += name;
}

bool TakeName(std::string_view& rest, std::string& name) {
  std::uint16_t length = 0;
  if (rest.size() < sizeof(length)) return false;
  std::memcpy(&length, rest.data(), sizeof(length));
  rest.remove_prefix(sizeof(length));
  if (rest.size() < length) return false;
  name = rest.substr(0, length);
  rest.remove_prefix(length);
  return true;
}

}  // namespace

std::string RecordOf(const Teller& teller, const v1::AgentMessage& message, WallNs when) {
  std::string record(1, kTold);
  record +=
      static_cast<char>((teller.authenticated ? kAuthenticated : 0) | (teller.anew ? kAnew : 0));
  record.append(reinterpret_cast<const char*>(&when.ns), sizeof(when.ns));
  PutName(record, teller.node);
  PutName(record, teller.boot_id);
  if (message.has_summary()) {
    message.AppendToString(&record);
    return record;
  }
  // Its number is another on each stream.
  v1::AgentMessage unnumbered = message;
  unnumbered.clear_number();
  unnumbered.AppendToString(&record);
  return record;
}

std::optional<Told> ToldOf(std::string_view record) {
  if (record.size() < kNamesAt || record[0] != kTold) return std::nullopt;
  Told told;
  told.teller.authenticated = (record[kFlagsAt] & kAuthenticated) != 0;
  told.teller.anew = (record[kFlagsAt] & kAnew) != 0;
  std::memcpy(&told.when.ns, record.data() + kWhenAt, sizeof(told.when.ns));
  std::string_view rest = record.substr(kNamesAt);
  if (!TakeName(rest, told.teller.node) || !TakeName(rest, told.teller.boot_id)) {
    return std::nullopt;
  }
  if (!told.message.ParseFromArray(rest.data(), static_cast<int>(rest.size()))) {
    return std::nullopt;
  }
  return told;
}

std::string ConclusionOf(const std::string& job) { return kConcluded + job; }

std::optional<std::string> ConcludedIn(std::string_view record) {
  if (record.empty() || record[0] != kConcluded) return std::nullopt;
  return std::string(record.substr(1));
}

bool SameWords(std::string_view one, std::string_view other) {
  return one.size() == other.size() && one.size() >= kNamesAt &&
         ((one[kFlagsAt] ^ other[kFlagsAt]) & kAuthenticated) == 0 &&
         one.substr(kNamesAt) == other.substr(kNamesAt);
}

std::string AtHead(std::string record) {
  record[kFlagsAt] = static_cast<char>(record[kFlagsAt] & ~kAnew);
  return record;
}

std::optional<HeadPlace> PlaceOf(const v1::AgentMessage& message) {
  if (message.has_rank()) {
    return HeadPlace{message.rank().job(), message.rank().rank(), {HeadKind::kProcess, 0}};
  }
  if (message.has_group()) {
    const v1::GroupInfo& group = message.group();
    return HeadPlace{group.job(), group.rank(), {HeadKind::kGroup, group.id()}};
  }
  if (message.has_gone()) {
    return HeadPlace{message.gone().job(), message.gone().rank(), {HeadKind::kDeath, 0}};
  }
  return std::nullopt;
}

}  // namespace fathom::collector
