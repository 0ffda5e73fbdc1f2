// Tells receivers of verdicts in the background: one matter per episode, the newest state wins.
//
// Owned by Collector; fed by the verdict ledger's listener, which must not wait. For each receiver
// and episode at most one notice waits; a newer one takes its place, so that a flood of verdicts
// or a receiver that is away costs bounded memory and no duplicates. A notice that failed is tried
// again after kRetry, twice as long each time up to kMaxRetry; one that the receiver calls wrong
// is dropped and counted. While an episode lasts, Alertmanager is told anew every kRefresh. All
// others hear of it when it opens, when what it says of whom or how surely changes, and when it is
// over: a cost that grows is no news.
//
// With an outbox nothing is forgotten over a restart: what waited goes out, Alertmanager's refresh
// goes on, and who has heard of an episode does not hear of it again.
//
// Routes say which receiver hears of which notice, add labels and runbook, and hold back what is
// not critical in quiet hours; who has heard of an episode hears of its end whatever the rules say
// then.
//
// Use() takes other receivers and routes while it runs: what waits for one that stays is kept, what
// waits for one that goes is given up, and a new one hears of each episode from its next change on.
//
// Threads: one of its own, once there is a receiver. Thread-safety: thread-safe. Ownership: refers
// to transport and clock.
// Errors: none to the caller; see the counters. Bounds: kMaxEpisodes for each receiver, over all of
// them together; beyond that new ones are dropped and counted. Cost of Tell: O(receivers × log
// episodes).
#ifndef FATHOM_COLLECTOR_NOTIFY_NOTIFIER_H_
#define FATHOM_COLLECTOR_NOTIFY_NOTIFIER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/notify/delivery.h"
#include "collector/notify/outbox.h"
#include "collector/notify/routes.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class Notifier {
 public:
  static constexpr std::size_t kMaxEpisodes = 2000;
  static constexpr Nanos kRetry{1'000'000'000};
  static constexpr Nanos kMaxRetry{60'000'000'000};
  static constexpr Nanos kRefresh{60'000'000'000};

  struct Counters {
    std::atomic<std::uint64_t> sent{0}, failed{0}, dropped{0};
    std::atomic<std::uint64_t> quiet{0};  // over before the quiet hours were: nobody was told
  };

  // `outbox` may be null.
  Notifier(const std::vector<Receiver>& receivers, HttpTransport& transport, const Clock& clock,
           Outbox* outbox = nullptr, Routes routes = {});
  ~Notifier();  // gives up what waits, but for what the outbox has

  void Tell(Notice notice);
  // What another collector had kept of matters that are told from here from now on.
  void Adopt(const std::vector<Outbox::Entry>& entries);
  // Episodes of which another collector tells from now on; the outbox keeps what it has.
  void Drop(const std::set<std::string>& keys);
  void Use(const std::vector<Receiver>& receivers, Routes routes = {});
  const Counters& counters() const { return counters_; }

 private:
  struct Waiting {
    Notice notice;
    MonoNs due;
    Nanos retry = kRetry;
    std::uint64_t version = 0;
    bool held = false;  // until quiet hours end, and never sent
  };
  using Id = std::uint64_t;                // of a receiver, for as long as it stays
  using Key = std::pair<Id, std::string>;  // receiver, episode

  void Run();
  void TakeUp(const Outbox::Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Keep(const Key& key, const Notice& notice, bool waits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(const Key& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellOne(const Key& key, const Receiver& receiver, const Notice& notice)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether it was over before anybody was told.
  [[nodiscard]] bool Passed(const Key& key, const Notice& notice)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The first that is due; false: none. `until`: when the next one is.
  bool Next(MonoNs now, Key& key, Waiting& waiting, MonoNs& until)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the receiver has heard as much already; else it is noted that it hears it now.
  [[nodiscard]] bool Heard(const Key& key, Shape shape, const Notice& notice)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteThread(const Key& key, const Notice& notice, const std::string& thread)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Settle(const Key& key, const Waiting& tried, const absl::Status& status, MonoNs now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  HttpTransport& transport_;
  const Clock& clock_;
  Outbox* const outbox_;
  Counters counters_;
  service::Mutex mutex_;
  service::ConditionVariable wake_;
  std::map<Id, Receiver> receivers_ ABSL_GUARDED_BY(mutex_);
  Routes routes_ ABSL_GUARDED_BY(mutex_);
  Id next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Key, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // Notice::matter, of episodes that last.
  std::map<Key, std::string> told_ ABSL_GUARDED_BY(mutex_);
  // In the outbox; whether as one that waits.
  std::map<Key, bool> kept_ ABSL_GUARDED_BY(mutex_);
  // Where receivers have them, of episodes that last.
  std::map<Key, std::string> threads_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_NOTIFIER_H_
