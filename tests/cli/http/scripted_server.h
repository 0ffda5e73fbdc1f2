// A server for tests that answers one connection with prescribed bytes, well-behaved or not.
//
// Model: each step is sent in turn; what follows (close or silence) is the script's last word.
// Thread-safety: one server, one client. Ownership: the thread ends with the object.
#ifndef FATHOM_TESTS_CLI_HTTP_SCRIPTED_SERVER_H_
#define FATHOM_TESTS_CLI_HTTP_SCRIPTED_SERVER_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "collector/cli/http/host_port.h"

namespace fathom::cli {

class ScriptedServer {
 public:
  enum class End { kClose, kSilence, kDrip };  // kDrip: a byte every 5 ms, for ever

  ScriptedServer(std::vector<std::string> pieces, End end);
  ~ScriptedServer();

  HostPort address() const;
  // What the client asked. Requires: it was answered.
  const std::string& request() const { return request_; }

 private:
  void Serve();

  std::vector<std::string> pieces_;
  End end_;
  std::uint16_t port_ = 0;  // before listener_, whose making sets it
  int listener_;
  std::string request_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A loopback port on which nobody listens.
HostPort DeadPort();

}  // namespace fathom::cli

#endif  // FATHOM_TESTS_CLI_HTTP_SCRIPTED_SERVER_H_
