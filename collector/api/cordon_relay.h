// Passes a person's command on to fathom-cordon: approve, undo, pause, resume, reset.
//
// Used by Api for POST /api/v1/actions/…, which HttpServer lets through for operators only.
//
// Model: the collector has no right of its own at fathom-cordon. What goes out is the token with
// which the person signed in here; fathom-cordon looks it up in its own list, decides, and writes
// that person's name into its log (docs/design/0009-changes-from-the-page.md). Whoever signed in
// without a token, or reads only, is told so; nothing is sent for them.
//
// Thread-safety: thread-safe. Ownership: refers to the transport, which outlives it. Errors: an
// answer of 400 (a pause without a reason), 403 (no right, here or there), 404, 409 (the action is
// not what it was), 415, 429, or 503 (fathom-cordon is away, or kMostUnderWay others wait for it);
// where it did not answer the text says that the command may have arrived. Cost: one request of at
// most kPatienceS.
#ifndef FATHOM_COLLECTOR_API_CORDON_RELAY_H_
#define FATHOM_COLLECTOR_API_CORDON_RELAY_H_

#include <atomic>
#include <string>

#include "collector/http/request.h"
#include "collector/net/http_transport.h"

namespace fathom::collector {

class CordonRelay {
 public:
  // Longer than fathom-cordon's limit for one command of Slurm, behind which it may have to wait.
  static constexpr double kPatienceS = 12;
  static constexpr int kMostUnderWay = 4;

  // Whether somebody's commands are passed on, and if not, why.
  enum class Right { kOff, kSignIn, kViewer, kNoToken, kOn };

  // `offered`: the setting cordon_changes.
  CordonRelay(const std::string& address, bool offered, HttpTransport& transport);

  Right RightOf(const Request& request) const;
  // "you" of /api/v1/actions: the name, and the right as a word.
  std::string You(const Request& request) const;
  Response Pass(const Request& request);

 private:
  Response Ask(const std::string& path, const Request& request);

  const std::string url_;
  const bool offered_;
  HttpTransport& transport_;
  std::atomic<int> under_way_{0};
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_CORDON_RELAY_H_
