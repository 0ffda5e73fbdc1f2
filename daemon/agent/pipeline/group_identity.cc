#include "daemon/agent/pipeline/group_identity.h"

#include <numeric>
#include <string_view>

namespace fathom::agent {
namespace {

// More ranks than any job has: a world size above it is garbage and is not spelled out.
constexpr std::uint32_t kMaxWorld = 1u << 20;

class Fnv {
 public:
  explicit Fnv(std::string_view salt) { Add(salt); }

  void Add(std::string_view text) {
    for (const char c : text) Byte(static_cast<unsigned char>(c));
    Byte(0);
  }
  void Add(std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) Byte((value >> shift) & 0xff);
  }
  GroupId Id() const {
    std::uint64_t h = state_;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
    h ^= h >> 33;
    return GroupId(h == 0 ? 1 : h);  // 0 means "not known"
  }

 private:
  void Byte(std::uint32_t byte) { state_ = (state_ ^ byte) * 0x100000001b3; }
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace

GroupIdentity IdentifyGroup(const GroupFacts& facts, std::uint32_t world_size) {
  GroupIdentity identity;
  identity.members = facts.members;
  const bool is_world = world_size != 0 && facts.size == world_size && world_size <= kMaxWorld;
  if (identity.members.empty() && is_world) {
    identity.members.resize(world_size);
    std::iota(identity.members.begin(), identity.members.end(), 0u);
  }
  Fnv hash("fathom group 1");
  if (!facts.name.empty()) hash.Add(facts.name);
  if (!identity.members.empty()) {
    hash.Add("members");
    for (const std::uint32_t member : identity.members) hash.Add(member);
    // Two nameless groups of the same members are told apart by their order alone.
    if (facts.name.empty()) hash.Add(facts.ordinal);
    identity.guessed = facts.name.empty() && !is_world;
  } else if (!facts.name.empty()) {
    hash.Add(facts.size);
  } else {
    hash.Add("order");
    hash.Add(facts.ordinal);
    hash.Add(facts.size);
    identity.guessed = true;
  }
  identity.id = hash.Id();
  return identity;
}

}  // namespace fathom::agent
