// Where the members of a stand-in communicator meet: one shared file with counters.
//
// Used by nccl.cc and stream.cc. Waiting is polling with short sleeps, so that 16 processes fit on
// two cores. Thread-safety: atomics; any process may come and go, a file is never shrunk.
// Errors: Open gives null where the file cannot be made.
#ifndef FATHOM_TESTS_FAKES_NCCL_RENDEZVOUS_H_
#define FATHOM_TESTS_FAKES_NCCL_RENDEZVOUS_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace fakes::nccl {

inline constexpr int kMaxRanks = 64;
inline constexpr int kPlaces = 256;
inline constexpr int kRingChannels = 2;

// Zero-filled: nobody has come. Counters only rise, so they need no reset.
struct Shared {
  std::atomic<std::int32_t> process[kMaxRanks];  // RANK of each member + 1
  std::atomic<std::uint64_t> arrived[kPlaces];   // collective q is at place q % kPlaces
  std::atomic<std::uint64_t> posted[2][kMaxRanks][kMaxRanks];  // sends, receives; [source][target]
  // Of a collective's ring, by place, channel and sender: steps for which the receiver has room,
  // that the network has taken, that have arrived.
  struct Edge {
    std::atomic<std::uint64_t> room, taken, arrived;
  } edges[kPlaces][kRingChannels][kMaxRanks];
  struct Split {
    std::atomic<std::int32_t> color[kMaxRanks];  // + 2, so that 0 is "not told" and −1 a colour
    std::atomic<std::int32_t> key[kMaxRanks];
  } splits[64];
};

Shared* Open(const std::string& name);
void PollPause();

}  // namespace fakes::nccl

#endif  // FATHOM_TESTS_FAKES_NCCL_RENDEZVOUS_H_
