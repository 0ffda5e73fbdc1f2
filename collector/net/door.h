// The door of a port, or of a unix socket: accepts connections itself, within bounds, and hands
// each on.
//
// Used by AgentService, whose server library of this age stops accepting for good once the process
// ran out of descriptors, and takes any number of streams that are reset at once.
// Model: one thread accepts. A connection counts from its acceptance until either end shuts it; the
// door keeps a second descriptor of it for that, and to cut it. Refused (accepted and closed at
// once) is what is beyond `connections`, or beyond `of_one_address` for addresses other than
// loopback; so is all while descriptors are short, for which one is held in reserve. A connection
// on which more than `streams` begin within ten seconds is cut. Whoever had all connections cut
// stays out for kShutFor: what is refused here costs a hundredth of what the server library does
// with it. Two connections never have the same other end at a time, as they may where a port has
// several addresses: what comes in on one could be taken for the other's. At a unix socket the
// kernel tells at once whose process connects; `whose` says who is believed, and the name that it
// gives the user stands for the address in all that is counted.
//
// Units: streams per ten seconds. Thread-safety: thread-safe. Ownership: a descriptor that is
// handed on belongs to who takes it. Errors: Open says which address and why; afterwards the door
// goes on whatever accept says, ten times a second at least. Cost: two descriptors and 200 bytes a
// connection.
#ifndef FATHOM_COLLECTOR_NET_DOOR_H_
#define FATHOM_COLLECTOR_NET_DOOR_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "collector/net/local_listener.h"
#include "collector/net/peer.h"
#include "daemon/service/mutex.h"

namespace fathom::collector {

struct DoorLimits {
  std::size_t connections = 40'000;
  std::size_t of_one_address = 64;
  int streams = 100;
};

class Door {
 public:
  static constexpr std::chrono::seconds kShutFor{1};

  using Take = std::function<void(int fd, int listener)>;
  using TakeOf = std::function<void(int fd, int listener, const std::string& who)>;
  using Tell = std::function<void(const std::string& what)>;
  using Whose = std::function<absl::StatusOr<std::string>(uid_t user)>;

  // `take` is called once Begin() was; `refused` for each connection that is not let in, `cut` for
  // each that is cut, with the reason.
  static absl::StatusOr<std::unique_ptr<Door>> Open(const std::string& address, DoorLimits limits,
                                                    Tell refused, Tell cut);
  static std::unique_ptr<Door> OfSocket(std::unique_ptr<LocalListener> socket, DoorLimits limits,
                                        Whose whose, Tell refused, Tell cut);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  void Begin(Take take);
  void BeginOf(TakeOf take);  // with whom `whose` said it is; empty at a port
  void End();                 // lets nobody in any more; what is connected stays
  int port() const { return port_; }
  std::size_t connections() const;
  // A stream has begun on a connection. False: there are too many of late, and it is cut.
  bool MayStream(const Peer& peer);
  // Cuts all connections of that address, or user, and refuses new ones for kShutFor.
  void Cut(const std::string& address, const std::string& why);
  struct Entrance {
    std::uint64_t serial = 0;    // of all that were ever let in; 0: none
    std::string server_address;  // that it reached; of a port
  };
  // Of which connection that is; of none: it was cut or has ended, and streams of it may still come
  // in.
  Entrance EntranceOf(const Peer& peer) const;
  // Connects to the port and waits until this door has accepted that.
  bool Answers(std::chrono::milliseconds patience);

 private:
  using Where = std::pair<std::string, int>;  // address and port of the other end
  struct Connection {
    int fd = -1;
    std::uint64_t serial = 0;
    int streams = 0;
    std::chrono::steady_clock::time_point since;
    std::string server_address = {};
  };

  Door(int listener, int port, DoorLimits limits, Tell refused, Tell cut);
  void Run();
  void Accept();
  void LetIn(int fd, const Where& where);
  void LetInUser(int fd);
  std::string WhyNot(const Where& where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget();
  void Erase(const Where& where) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsProbe(const Where& where);
  bool PortAnswers(std::chrono::milliseconds patience) ABSL_EXCLUSIVE_LOCKS_REQUIRED(probing_);
  bool SocketAnswers(std::chrono::milliseconds patience) ABSL_EXCLUSIVE_LOCKS_REQUIRED(probing_);

  const int listener_;
  const int port_;
  const DoorLimits limits_;
  const Tell refused_, cut_;
  int reserve_ = -1;  // descriptor, for when there is no other
  int ended_ = -1;    // epoll: connections that are over
  int stop_ = -1;     // eventfd
  TakeOf take_;
  std::unique_ptr<LocalListener> socket_;  // null: a port
  Whose whose_;
  int users_let_in_ = 0;  // of the thread

  mutable service::Mutex mutex_;
  service::ConditionVariable probed_;
  std::uint64_t let_in_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Where, Connection> connections_ ABSL_GUARDED_BY(mutex_);
  std::map<int, Where> by_fd_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::size_t> of_address_ ABSL_GUARDED_BY(mutex_);
  // After Cut.
  std::map<std::string, std::chrono::steady_clock::time_point> shut_until_ ABSL_GUARDED_BY(mutex_);
  Where probe_ ABSL_GUARDED_BY(mutex_);
  bool probe_came_ ABSL_GUARDED_BY(mutex_) = false;
  service::Mutex probing_ ABSL_ACQUIRED_BEFORE(mutex_);  // one probe at a time
  std::thread thread_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_DOOR_H_
