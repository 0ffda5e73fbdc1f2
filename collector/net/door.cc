#include "collector/net/door.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "collector/net/listen_probe.h"
#include "daemon/service/agent_socket.h"
#include "daemon/service/loopback.h"

namespace fathom::collector {
namespace {

constexpr std::chrono::seconds kStreamSpan{10};
constexpr int kBacklog = 4096;
constexpr int kTurnMs = 100;
constexpr int kAcceptsATurn = 256;  // so that ended connections are seen in between
const std::pair<std::string, int> kKnock = {"our own", 0};  // at a socket

std::pair<std::string, int> WhereOf(const sockaddr_storage& from, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int code =
      getnameinfo(reinterpret_cast<const sockaddr*>(&from), length, host.data(), host.size(),
                  port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  if (code != 0) return {};
  std::string address = host.data();
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped)) address.erase(0, kMapped.size());
  return {std::move(address), std::atoi(port.data())};
}

std::pair<std::string, int> OwnEnd(int fd) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length) != 0) return {};
  return WhereOf(own, length);
}

bool HasEnded(int fd) {
  pollfd look{fd, POLLRDHUP, 0};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

int Listen(const addrinfo& info) {
  const int fd = socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const int on = 1, off = 0;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (info.ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(fd, info.ai_addr, info.ai_addrlen) == 0 && listen(fd, kBacklog) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

// The listener's own address, or loopback where it listens on all.
sockaddr_storage WayTo(int listener, socklen_t& length) {
  sockaddr_storage to{};
  length = sizeof to;
  getsockname(listener, reinterpret_cast<sockaddr*>(&to), &length);
  if (to.ss_family == AF_INET) {
    auto& in = reinterpret_cast<sockaddr_in&>(to);
    if (in.sin_addr.s_addr == htonl(INADDR_ANY)) in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else if (to.ss_family == AF_INET6) {
    auto& in = reinterpret_cast<sockaddr_in6&>(to);
    if (IN6_IS_ADDR_UNSPECIFIED(&in.sin6_addr)) in.sin6_addr = in6addr_loopback;
  }
  return to;
}

int OpenReserve() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

absl::StatusOr<std::unique_ptr<Door>> Door::Open(const std::string& address, DoorLimits limits,
                                                 Tell refused, Tell cut) {
  HostPort where;
  if (auto status = ParseHostPort(address, where); !status.ok()) return status;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int code =
      getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  if (code != 0) return absl::InvalidArgumentError(absl::StrCat(address, ": ", gai_strerror(code)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const int listener = Listen(*found);
  if (listener < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot listen on ", address));
  return std::unique_ptr<Door>(
      new Door(listener, OwnEnd(listener).second, limits, std::move(refused), std::move(cut)));
}

std::unique_ptr<Door> Door::OfSocket(std::unique_ptr<LocalListener> socket, DoorLimits limits,
                                     Whose whose, Tell refused, Tell cut) {
  std::unique_ptr<Door> door(new Door(socket->fd(), 0, limits, std::move(refused), std::move(cut)));
  door->socket_ = std::move(socket);
  door->whose_ = std::move(whose);
  return door;
}

Door::Door(int listener, int port, DoorLimits limits, Tell refused, Tell cut)
    : listener_(listener),
      port_(port),
      limits_(limits),
      refused_(std::move(refused)),
      cut_(std::move(cut)),
      reserve_(OpenReserve()),
      ended_(epoll_create1(EPOLL_CLOEXEC)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Door::End() {
  eventfd_write(stop_, 1);
  if (thread_.joinable()) thread_.join();
}

Door::~Door() {
  End();
  for (const auto& [where, connection] : connections_) close(connection.fd);
  for (const int fd : {socket_ ? -1 : listener_, reserve_, ended_, stop_}) {
    if (fd >= 0) close(fd);
  }
}

void Door::Begin(Take take) {
  BeginOf(
      [take = std::move(take)](int fd, int listener, const std::string&) { take(fd, listener); });
}

void Door::BeginOf(TakeOf take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

void Door::Run() {
  std::array<pollfd, 3> wait{{{listener_, POLLIN, 0}, {ended_, POLLIN, 0}, {stop_, POLLIN, 0}}};
  while ((wait[2].revents & POLLIN) == 0) {
    Forget();
    if ((wait[0].revents & POLLIN) != 0) Accept();
    poll(wait.data(), wait.size(), kTurnMs);
  }
}

void Door::Accept() {
  for (int i = 0; i < kAcceptsATurn; ++i) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    auto* to = reinterpret_cast<sockaddr*>(&from);
    int fd = accept4(listener_, to, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
      // Who waits is told no; left in the queue it would keep everybody else out.
      if (reserve_ >= 0) close(reserve_);
      fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) close(fd);
      reserve_ = OpenReserve();
      if (fd < 0) return;
      refused_("no descriptor is left");
      continue;
    }
    if (fd < 0 && errno != ECONNABORTED && errno != EINTR) return;
    if (fd >= 0) socket_ ? LetInUser(fd) : LetIn(fd, WhereOf(from, length));
  }
}

void Door::LetInUser(int fd) {
  const absl::StatusOr<service::SocketPeer> peer = service::PeerOfSocket(fd);
  const absl::StatusOr<std::string> who = peer.ok() ? whose_(peer->user) : peer.status();
  if (!who.ok()) {
    close(fd);
    refused_(std::string(who.status().message()));
    return;
  }
  if (peer->process == getpid() && IsProbe(kKnock)) {
    close(fd);
    return;
  }
  LetIn(fd, {*who, ++users_let_in_});
}

std::string Door::WhyNot(const Where& where) {
  const std::string& address = where.first;
  const auto shut = shut_until_.find(address);
  if (shut != shut_until_.end()) {
    if (std::chrono::steady_clock::now() < shut->second) {
      return absl::StrCat(address, " was cut a moment ago");
    }
    shut_until_.erase(shut);
  }
  if (connections_.size() >= limits_.connections) return "too many connections";
  const auto twin = connections_.find(where);
  if (twin != connections_.end() && !HasEnded(twin->second.fd)) {
    return absl::StrCat(address, " has a connection from that port, to another address");
  }
  const auto at = of_address_.find(address);
  const bool crowd = at != of_address_.end() && at->second >= limits_.of_one_address;
  if (!crowd || service::IsLoopback(address)) return {};
  return absl::StrCat("too many connections from ", address);
}

void Door::LetIn(int fd, const Where& where) {
  if (IsProbe(where)) {
    close(fd);
    return;
  }
  std::string why;
  {
    const service::MutexLock lock(mutex_);
    why = WhyNot(where);
    const int own = why.empty() ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (why.empty() && own < 0) why = "no descriptor is left";
    if (why.empty()) {
      Erase(where);  // one of before that has ended unseen
      epoll_event event{};
      event.events = EPOLLRDHUP | EPOLLET;
      event.data.fd = own;
      epoll_ctl(ended_, EPOLL_CTL_ADD, own, &event);
      connections_[where] = {own, ++let_in_, 0, std::chrono::steady_clock::now(),
                             socket_ ? std::string() : OwnEnd(own).first};
      by_fd_[own] = where;
      ++of_address_[where.first];
    }
  }
  if (!why.empty()) {
    close(fd);
    refused_(why);
    return;
  }
  const int on = 1;
  if (!socket_) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  take_(fd, listener_, socket_ ? where.first : "");
}

void Door::Erase(const Where& where) {
  const auto at = connections_.find(where);
  if (at == connections_.end()) return;
  const int fd = at->second.fd;
  // Closed alone it would stay there: the server library holds the same connection.
  epoll_ctl(ended_, EPOLL_CTL_DEL, fd, nullptr);
  by_fd_.erase(fd);
  close(fd);
  connections_.erase(at);
  const auto count = of_address_.find(where.first);
  if (--count->second == 0) of_address_.erase(count);
}

void Door::Forget() {
  std::array<epoll_event, 256> events{};
  const service::MutexLock lock(mutex_);
  const int n = epoll_wait(ended_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < n; ++i) {
    const int fd = events[static_cast<std::size_t>(i)].data.fd;
    const auto at = by_fd_.find(fd);
    if (at == by_fd_.end()) continue;
    Erase(Where(at->second));
  }
}

std::size_t Door::connections() const {
  const service::MutexLock lock(mutex_);
  return connections_.size();
}

bool Door::MayStream(const Peer& peer) {
  {
    const service::MutexLock lock(mutex_);
    const auto at = connections_.find({peer.address, peer.port});
    if (at == connections_.end()) return true;
    Connection& connection = at->second;
    const auto now = std::chrono::steady_clock::now();
    if (now - connection.since > kStreamSpan) {
      connection.streams = 0;
      connection.since = now;
    }
    if (++connection.streams <= limits_.streams) return true;
    shutdown(connection.fd, SHUT_RDWR);
    if (connection.streams > limits_.streams + 1) return false;  // told already
  }
  cut_(absl::StrCat("too many streams on a connection from ", peer.address));
  return false;
}

void Door::Cut(const std::string& address, const std::string& why) {
  {
    const service::MutexLock lock(mutex_);
    for (const auto& [where, connection] : connections_) {
      if (where.first == address) shutdown(connection.fd, SHUT_RDWR);
    }
    shut_until_[address] = std::chrono::steady_clock::now() + kShutFor;
  }
  cut_(why);
}

Door::Entrance Door::EntranceOf(const Peer& peer) const {
  const service::MutexLock lock(mutex_);
  const auto at = connections_.find({peer.address, peer.port});
  const bool there = at != connections_.end() && at->second.streams <= limits_.streams;
  return there ? Entrance{at->second.serial, at->second.server_address} : Entrance{};
}

bool Door::IsProbe(const Where& where) {
  const service::MutexLock lock(mutex_);
  if (where != probe_) return false;
  probe_came_ = true;
  probed_.NotifyAll();
  return true;
}

bool Door::Answers(std::chrono::milliseconds patience) {
  const service::MutexLock one(probing_);
  return socket_ ? SocketAnswers(patience) : PortAnswers(patience);
}

bool Door::SocketAnswers(std::chrono::milliseconds patience) {
  service::MutexLock lock(mutex_);
  probe_ = kKnock;
  probe_came_ = false;
  lock.Unlock();
  const bool reached = service::CheckAgentSocket(socket_->path()).ok();
  lock.Lock();
  const bool came =
      reached && probed_.WaitFor(mutex_, patience, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return probe_came_;
      });
  probe_ = {};
  return came;
}

bool Door::PortAnswers(std::chrono::milliseconds patience) {
  socklen_t length = 0;
  const sockaddr_storage to = WayTo(listener_, length);
  const int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  sockaddr_storage own = to;  // so that its port is known before it is accepted
  reinterpret_cast<sockaddr_in&>(own).sin_port = 0;  // at one place for both families
  socklen_t own_length = sizeof own;
  bool came = bind(fd, reinterpret_cast<const sockaddr*>(&own), length) == 0 &&
              getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_length) == 0;
  if (came) {
    service::MutexLock lock(mutex_);
    probe_ = WhereOf(own, own_length);
    probe_came_ = false;
    connect(fd, reinterpret_cast<const sockaddr*>(&to), length);
    came = probed_.WaitFor(mutex_, patience,
                           [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return probe_came_; });
    probe_ = {};
  }
  close(fd);
  return came;
}

}  // namespace fathom::collector
