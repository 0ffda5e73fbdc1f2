// What people have heard of actions that the audit log does not know yet.
//
// Owned by the actuator: what cannot be written is decided anew at every look, and is told once.
//
// Model: of each key and title what was told last, and when. The same summary within kAgain is
// heard already; evidence, which grows with each second that a verdict stands, does not make it
// news. What the log has taken is forgotten: what comes of that action next is news.
//
// Units: monotonic time. Thread-safety: thread-compatible. Errors: none.
// Cost: O(log notices); those that are older than kAgain go.
#ifndef FATHOM_COLLECTOR_CORDON_HEARD_NOTICES_H_
#define FATHOM_COLLECTOR_CORDON_HEARD_NOTICES_H_

#include <map>
#include <string>
#include <utility>

#include "collector/notify/notice.h"
#include "proto/types/time_units.h"

namespace fathom::cordon {

class HeardNotices {
 public:
  // Alertmanager's usual repeat_interval.
  static constexpr Nanos kAgain{4LL * 3600 * 1'000'000'000};

  bool Heard(const collector::Notice& notice, MonoNs now) const;
  void Note(const collector::Notice& notice, MonoNs now);
  void Forget(const std::string& key);

 private:
  struct Told {
    std::string summary;
    MonoNs at;
  };
  std::map<std::pair<std::string, std::string>, Told> told_;  // by key and title
};

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_HEARD_NOTICES_H_
