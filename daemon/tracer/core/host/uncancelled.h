// Holds the cancellation of a thread back while it does what must be done to its end.
//
// Used where the tracer opens files (activation.cc, window.cc): each of these calls is a point at
// which a thread that is to be cancelled ends, and others would wait for ever for what it began.
// Thread-safety: each thread has its own. Errors: none. Cost: no system call; cold path.
#ifndef FATHOM_DAEMON_TRACER_CORE_HOST_UNCANCELLED_H_
#define FATHOM_DAEMON_TRACER_CORE_HOST_UNCANCELLED_H_

#include <pthread.h>

namespace fathom::tracer {

class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_CORE_HOST_UNCANCELLED_H_
