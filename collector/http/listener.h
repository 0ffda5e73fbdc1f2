// A civetweb server on one address: how it is started, and how it is stopped without a pause.
//
// Used by HttpServer of the collector and by CordonServer; each answers requests in its own way.
//
// Model: `handle` is called for every request on one of civetweb's threads and writes the answer
// itself. While it is crowded, peers that send their request slowly lose their connection; the rest
// is answered. With `tls`, HTTPS only. Thread-safety: handle must be; the rest is
// thread-compatible. Ownership: owns the threads; handle must outlive them. Errors: InvalidArgument
// (no address, bad files of TLS), Unavailable (cannot listen, with what to do). Stop path: the
// destructor, which waits for answers under way.
#ifndef FATHOM_COLLECTOR_HTTP_LISTENER_H_
#define FATHOM_COLLECTOR_HTTP_LISTENER_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/http/login.h"
#include "collector/net/listen_probe.h"
#include "daemon/service/server_tls.h"
#include "daemon/service/slow_peers.h"

struct mg_connection;
struct mg_context;

namespace fathom::collector {

class Listener {
 public:
  // With the body of a POST; empty where it is longer than Request::kMaxBody.
  using Handle = std::function<void(const Listener&, mg_connection*, const std::string& body)>;
  using Settings = std::vector<std::pair<std::string, std::string>>;  // of civetweb

  // `threads`: of civetweb. `settings` are those that differ from one server to the other.
  static absl::StatusOr<std::unique_ptr<Listener>> Start(const std::string& address,
                                                         const service::TlsFiles& tls,
                                                         std::size_t threads,
                                                         const Settings& settings, Handle handle);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int port() const { return port_; }

  // False where the server is on loopback and the request names a host that is not (a page of
  // somebody else that had its name resolved to this machine).
  bool HostIsServed(mg_connection* connection, const std::vector<std::string>& allowed) const;

  // What the request says about whoever sent it. `proxy_header`: see LoginOptions; may be empty.
  Credentials CredentialsOf(mg_connection* connection, const std::string& proxy_header) const;

 private:
  explicit Listener(Handle handle) : handle_(std::move(handle)) {}
  static int Call(mg_connection* connection, void* self);
  void Take(mg_connection* connection) const;
  static int GiveTls(void** context, void* self);

  const Handle handle_;
  std::unique_ptr<service::ServerTls> tls_;  // null: none
  HostPort where_;
  mg_context* context_ = nullptr;
  int port_ = 0;
  std::unique_ptr<service::SlowPeers> slow_peers_;
};

// Empty where the request has no such header.
std::string HeaderOf(mg_connection* connection, const char* name);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_LISTENER_H_
