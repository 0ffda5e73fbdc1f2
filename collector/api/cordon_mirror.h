// What fathom-cordon did and would do, read from its own API and shown as it is.
//
// Used by Api (/api/v1/actions), so that a browser needs one address only and the page's policy of
// one origin holds. Reads, never asks for a change: where fathom-cordon has a login the collector
// shows a viewer's token, and whoever approves or undoes does it with their own (CordonRelay,
// `fathom action`).
//
// Model: asked at most once in kFresh, by one thread at a time; others get the last answer. When
// fathom-cordon does not answer, what was known of it stays, with the reason and the time it is
// from.
//
// Thread-safety: thread-safe. Ownership: refers to transport and clock. Errors: said in the answer.
// Cost: two requests a second at most, of at most kPatienceS each; the newest kMostActions are
// kept.
#ifndef FATHOM_COLLECTOR_API_CORDON_MIRROR_H_
#define FATHOM_COLLECTOR_API_CORDON_MIRROR_H_

#include <absl/status/statusor.h>

#include <string>

#include "collector/net/http_transport.h"
#include "collector/process/clock.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

class CordonMirror {
 public:
  static constexpr Nanos kFresh{1'000'000'000};
  static constexpr double kPatienceS = 2;
  static constexpr std::size_t kMostActions = 500;

  // `address`: HOST:PORT or a URL; empty: there is no fathom-cordon. `token_file` may be empty; it
  // is read at each question.
  CordonMirror(const std::string& address, std::string token_file, HttpTransport& transport,
               const Clock& clock);

  // The whole answer of /api/v1/actions.
  std::string Json();
  // The next Json asks again: something was changed just now.
  void Forget();

 private:
  absl::StatusOr<std::string> Ask();  // the fields that fathom-cordon gave, without braces
  absl::StatusOr<std::string> Get(const std::string& path);
  std::string Answer(const std::string& state, const std::string& why) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string url_;
  const std::string token_file_;
  HttpTransport& transport_;
  const Clock& clock_;
  service::Mutex mutex_;
  bool asking_ ABSL_GUARDED_BY(mutex_) = false;
  MonoNs asked_ ABSL_GUARDED_BY(mutex_);       // not known: to be asked anew
  std::string known_ ABSL_GUARDED_BY(mutex_);  // fields of the last good answer
  WallNs known_at_ ABSL_GUARDED_BY(mutex_);
  std::string answer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_CORDON_MIRROR_H_
