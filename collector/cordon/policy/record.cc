#include "collector/cordon/policy/record.h"

#include <algorithm>
#include <array>

namespace fathom::cordon {
namespace {

constexpr std::array<std::string_view, 16> kNames = {
    "observed", "advised", "approved",      "approval_expired", "withdrawn",    "intended",
    "done",     "failed",  "undo_intended", "undone",           "relinquished", "paused",
    "resumed",  "tripped", "reset",         "declined"};

// FNV-1a, 64 bit (Fowler, Noll, Vo): stable over versions, which std::hash is not.
void Mix(std::uint64_t& hash, const std::string& text) {
  for (const char c : text + '\0') {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
}

}  // namespace

std::string_view ToString(RecordKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

bool ParseRecordKind(std::string_view text, RecordKind& out) {
  const auto at = std::find(kNames.begin(), kNames.end(), text);
  if (at == kNames.end()) return false;
  out = static_cast<RecordKind>(at - kNames.begin());
  return true;
}

std::string ActionId(const VerdictFact& verdict) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::string* part : {&verdict.node, &verdict.entity, &verdict.cause, &verdict.id}) {
    Mix(hash, *part);
  }
  std::string id = "a";
  for (int i = 0; i < 12; ++i, hash >>= 4) id.push_back("0123456789abcdef"[hash & 15]);
  return id;
}

}  // namespace fathom::cordon
