// Which threads of a rank carry its training, and which only go on beside it: a heartbeat, a
// monitor.
//
// Fed by rank_pipeline with every record; asked by it and by session/rank_messages.
//
// Model: a thread beside the training is not the main thread, has entered nothing but small ops (at
// most kLightBytes, as a heartbeat's all-reduce or a barrier), all of them of communicators that no
// other thread has used, while another thread carries data. A communicator is beside if its only
// user is such a thread. Nothing is concluded from how often ops come. Whoever carries data once,
// or shares a communicator once, belongs to the training for good; so does an op whose size is not
// known. Where nobody tells when ops of the training end (a device without NCCL's profiler plugin)
// none is beside: ranks are then compared by counts of what they entered, and those of what goes on
// meanwhile would differ by chance.
//
// Thread-safety: single-threaded, owned by the poll loop. Errors: none; of more than kMostThreads
// threads none is beside. Cost: some ns a record; 1 KiB.
#ifndef FATHOM_DAEMON_AGENT_PIPELINE_THREAD_ROLES_H_
#define FATHOM_DAEMON_AGENT_PIPELINE_THREAD_ROLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/abi/event_record.h"
#include "daemon/abi/ring_layout.h"

namespace fathom::agent {

class ThreadRoles {
 public:
  static constexpr std::uint64_t kLightBytes = 4096;
  static constexpr std::size_t kMostThreads = 64;

  void SetMainThread(std::uint32_t tid) { main_ = tid; }
  void Take(const abi::EventRecord& record);

  bool IsBeside(std::uint16_t slot) const;
  // By its communicator; where it names none, by its thread. Of a worker that was faster than the
  // call it works for, neither is known: it counts for nothing where any thread is beside, for the
  // call is told in any case.
  bool IsBeside(const abi::EventRecord& record) const;

 private:
  static constexpr std::uint32_t kNobody = 0, kShared = ~std::uint32_t{0};

  struct Thread {
    std::uint32_t tid = 0;
    bool carries = false;  // data
    bool shares = false;   // a communicator with another thread
  };

  Thread* Find(std::uint32_t tid);
  const Thread* Find(std::uint32_t tid) const;
  void Use(std::uint16_t slot, Thread& thread);
  bool IsBeside(const Thread& thread) const;
  bool AnyBeside() const;

  std::vector<Thread> threads_;
  std::array<std::uint32_t, abi::kGroupSlots> user_{};  // of each slot: a tid, or one of the above
  std::uint32_t main_ = 0;
  bool data_is_carried_ = false;
  bool ends_are_told_ = false;  // of the newest op that carries data
  bool too_many_ = false;
};

}  // namespace fathom::agent

#endif  // FATHOM_DAEMON_AGENT_PIPELINE_THREAD_ROLES_H_
