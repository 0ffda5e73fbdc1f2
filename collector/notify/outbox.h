// Where the notifier keeps what must outlive it: notices that wait, and what receivers have heard.
//
// Used by Notifier; the collector's own lies in the store (serve/kept_outbox.h). Thread-safety: as
// the implementation says; the notifier calls it with its lock held. Errors: none to the caller; a
// notice that cannot be kept is lost with the process only. Cost: of a small write.
#ifndef FATHOM_COLLECTOR_NOTIFY_OUTBOX_H_
#define FATHOM_COLLECTOR_NOTIFY_OUTBOX_H_

#include <string>
#include <vector>

#include "collector/notify/notice.h"

namespace fathom::collector {

class Outbox {
 public:
  struct Entry {
    std::string receiver;  // NameOf(Receiver)
    Notice notice;
    bool waits = false;  // else it was sent
  };

  virtual ~Outbox() = default;
  virtual void Keep(const Entry& entry) = 0;
  virtual void Forget(const std::string& receiver, const std::string& key) = 0;
  virtual std::vector<Entry> All() = 0;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_OUTBOX_H_
