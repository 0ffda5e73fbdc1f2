#include "collector/import/flight_recorder/batches.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom::collector::flight_recorder {
namespace {

// Of one group on this rank.
std::pair<std::int64_t, std::string> GroupKey(const DumpEntry& entry) {
  return {entry.pg_id, entry.group_name};
}

// A dump in which no send or receive was ever updated by itself holds only parts of batches.
bool OnlyParts(const Dump& dump) {
  return std::none_of(dump.entries.begin(), dump.entries.end(), [](const DumpEntry& entry) {
    return entry.is_p2p && !entry.closes_batch && entry.updated;
  });
}

bool IsPart(const DumpEntry& entry, const DumpEntry& closing, bool messages, bool only_parts) {
  if (entry.updated || entry.is_p2p != messages) return false;
  if (entry.collective_seq != closing.collective_seq) return false;
  return !messages || only_parts || entry.p2p_seq == closing.p2p_seq;
}

// Gives each part of a batch of messages the batch's state; of one of collectives the parts go.
void Settle(Dump& dump, const std::vector<std::size_t>& parts, std::size_t at, bool messages,
            std::vector<bool>& dropped) {
  DumpEntry& closing = dump.entries[at];
  dropped[at] = messages;
  for (const std::size_t p : parts) {
    DumpEntry& part = dump.entries[p];
    dropped[p] = !part.is_p2p;
    part.open = closing.open;
    part.started = closing.started;
    part.completed = closing.completed;
    part.updated = true;
  }
  if (!messages && !parts.empty() && closing.site.empty()) {
    closing.site = dump.entries[parts.front()].site;
  }
}

// Where only open ops are listed: messages that stand there again and again have long ended.
bool DropEndedParts(Dump& dump, std::vector<bool>& dropped) {
  const bool history = std::any_of(dump.entries.begin(), dump.entries.end(),
                                   [](const DumpEntry& entry) { return !entry.open; });
  if (history || dump.from_start) return false;
  std::map<std::tuple<std::int64_t, std::string, std::string>, int> listed;
  int most = 0;
  const auto unclosed = [](const DumpEntry& entry) { return entry.is_p2p && !entry.updated; };
  for (const DumpEntry& entry : dump.entries) {
    if (!unclosed(entry)) continue;
    most = std::max(most, ++listed[{entry.pg_id, entry.group_name, entry.profiling_name}]);
  }
  if (most < kEnqueuedAhead) return false;
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    if (unclosed(dump.entries[i])) dropped[i] = true;
  }
  return true;
}

}  // namespace

void SettleBatches(Dump& dump) {
  const bool only_parts = OnlyParts(dump);
  std::vector<bool> dropped(dump.entries.size(), false);
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::size_t>> waiting;
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    const DumpEntry& entry = dump.entries[i];
    std::vector<std::size_t>& before = waiting[GroupKey(entry)];
    if (!entry.closes_batch) {
      if (entry.updated) before.clear();
      if (!entry.updated) before.push_back(i);
      continue;
    }
    std::vector<std::size_t> parts;
    const auto is_part = [&](std::size_t p, bool messages) {
      return IsPart(dump.entries[p], entry, messages, only_parts);
    };
    const bool messages = entry.is_p2p || (!before.empty() && is_part(before.back(), true));
    while (!before.empty() && is_part(before.back(), messages)) {
      parts.push_back(before.back());
      before.pop_back();
    }
    before.clear();
    Settle(dump, parts, i, messages, dropped);
  }
  if (DropEndedParts(dump, dropped)) {
    dump.from_start = false;
    dump.notes.push_back(
        "holds open ops only, and messages of batches whose end it does not tell: these are left "
        "out");
  }
  std::size_t at = 0;
  std::erase_if(dump.entries, [&](const DumpEntry&) { return dropped[at++]; });
}

}  // namespace fathom::collector::flight_recorder
