// The HTTP server of fathom-cordon: sockets and limits around CordonApi.
//
// Owned by main. civetweb does the protocol; only the .cc sees it. Loopback by default.
// Threads: civetweb's, 32, so that slow peers are many before they are in anybody's way
// (see Listener). Thread-safety: thread-safe. Ownership: refers to API and
// login, which outlive it. Errors: Start says which address and what to do. Bounds: bodies of 4
// KiB.
#ifndef FATHOM_COLLECTOR_CORDON_SERVE_CORDON_SERVER_H_
#define FATHOM_COLLECTOR_CORDON_SERVE_CORDON_SERVER_H_

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "collector/cordon/serve/cordon_api.h"
#include "daemon/service/tls_files.h"

namespace fathom::cordon {

class CordonServer {
 public:
  static absl::StatusOr<std::unique_ptr<CordonServer>> Start(const std::string& address,
                                                             const service::TlsFiles& tls,
                                                             const CordonApi& api,
                                                             const collector::Login& login);
  ~CordonServer();
  int port() const;

 private:
  class Impl;
  explicit CordonServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace fathom::cordon

#endif  // FATHOM_COLLECTOR_CORDON_SERVE_CORDON_SERVER_H_
