// What is kept of a notice to one receiver: that it waits to be sent, or what was said last.
//
// Written and read by the outbox of notices through Store. `message` is the notice as the outbox
// writes it; the store does not look into it. Thread-safety: plain value.
#ifndef FATHOM_COLLECTOR_STORE_KEPT_NOTICE_H_
#define FATHOM_COLLECTOR_STORE_KEPT_NOTICE_H_

#include <string>

namespace fathom::collector {

struct KeptNotice {
  std::string receiver;  // a name that is no secret
  std::string key;       // of the episode
  bool waits = false;
  std::string message;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_STORE_KEPT_NOTICE_H_
