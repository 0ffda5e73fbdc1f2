// Stops an HTTP server of ours without waiting for its time limit.
//
// Used by the HTTP servers of the daemons. Model: civetweb 1.15 looks at its stop flag only when a
// connection comes, or after two seconds; so connections of our own come until it has stopped.
//
// Thread-safety: thread-safe; a thread of its own runs meanwhile. Errors: none; a server that
// cannot be reached is left to its time limit. Cost: a connection every 10 ms.
#ifndef FATHOM_DAEMON_SERVICE_STOP_SERVER_H_
#define FATHOM_DAEMON_SERVICE_STOP_SERVER_H_

#include <functional>
#include <string>

namespace fathom::service {

// `stop` returns when the server at `host`, `port` has ended. "localhost" is 127.0.0.1, as those
// servers bind it.
void StopServer(const std::string& host, int port, const std::function<void()>& stop);

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_STOP_SERVER_H_
