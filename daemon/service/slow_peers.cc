#include "daemon/service/slow_peers.h"

#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace fathom::service {
namespace {

std::string NameOf(const std::string& address, int port) {
  return address + " " + std::to_string(port);
}

int PortOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return -1;
}

// The other end of a connection at `port` of ours, named as civetweb names it; else empty.
std::string PeerAt(int fd, int port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  if (PortOf(address) != port) return {};
  size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  char host[NI_MAXHOST] = "";
  if (getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return {};
  }
  return NameOf(host, PortOf(address));
}

std::vector<int> Descriptors() {
  std::vector<int> all;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return all;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') all.push_back(std::atoi(entry->d_name));
  }
  closedir(folder);
  return all;
}

}  // namespace

SlowPeers::Answering::Answering(SlowPeers& peers, const std::string& address, int port)
    : peers_(peers), peer_(NameOf(address, port)) {
  const MutexLock lock(peers_.mutex_);
  peers_.answering_.insert(peer_);
}

SlowPeers::Answering::~Answering() {
  const MutexLock lock(peers_.mutex_);
  peers_.answering_.erase(peers_.answering_.find(peer_));
}

SlowPeers::SlowPeers(int port, std::size_t threads)
    : port_(port), most_(threads - std::max<std::size_t>(1, threads / 4)) {
  thread_ = std::thread([this] { Run(); });
}

SlowPeers::~SlowPeers() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void SlowPeers::Run() {
  MutexLock lock(mutex_);
  while (!stop_) {
    lock.Unlock();
    const auto begin = Clock::now();
    const bool crowded = Look();
    const auto least = std::max<Clock::duration>(kCalm, (Clock::now() - begin) * 50);
    lock.Lock();
    wake_.WaitFor(mutex_, crowded ? Clock::duration(kCrowded) : least,
                  [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
  }
}

bool SlowPeers::Look() {
  std::vector<std::pair<int, std::string>> open;
  for (const int fd : Descriptors()) {
    std::string peer = PeerAt(fd, port_);
    if (!peer.empty()) open.emplace_back(fd, std::move(peer));
  }
  if (open.size() <= most_) {
    silent_.clear();
    return false;
  }
  const auto now = Clock::now();
  std::set<std::string> present;
  for (const auto& [fd, peer] : open) {
    if (!ShutIfSlow(fd, peer, now)) present.insert(peer);
  }
  std::erase_if(silent_, [&](const auto& entry) { return !present.contains(entry.first); });
  return true;
}

bool SlowPeers::ShutIfSlow(int fd, const std::string& peer, Clock::time_point now) {
  // The descriptor may have become somebody else's meanwhile: a copy cannot.
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return false;
  int unread = 0;
  bool answering = false;
  {
    const MutexLock lock(mutex_);
    answering = answering_.contains(peer);
  }
  const bool ours = PeerAt(own, port_) == peer;
  const bool silent = ours && !answering && ioctl(own, FIONREAD, &unread) == 0 && unread == 0;
  bool shut = false;
  if (!silent) {
    silent_.erase(peer);
  } else if (now - silent_.try_emplace(peer, now).first->second >= kGrace) {
    shut = shutdown(own, SHUT_RDWR) == 0;
    shut_ += shut;
  }
  close(own);
  return shut;
}

}  // namespace fathom::service
