#include "tests/collector/server/http_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace fathom::collector {
namespace {

int ConnectTo(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(static_cast<std::uint16_t>(port));
  if (connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

RawReply HttpRaw(int port, const std::string& bytes) {
  RawReply answer;
  const int fd = ConnectTo(port);
  if (fd < 0) return answer;
  [[maybe_unused]] const auto sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  std::string all;
  char buffer[65536];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    all.append(buffer, static_cast<std::size_t>(n));
  }
  close(fd);
  const auto end = all.find("\r\n\r\n");
  if (end == std::string::npos || all.size() < 12) return answer;
  answer.status = std::atoi(all.c_str() + 9);
  answer.head = all.substr(0, end);
  answer.body = all.substr(end + 4);
  return answer;
}

RawReply HttpGet(int port, const std::string& target, const std::string& host,
                 const std::string& method) {
  return HttpRaw(
      port, method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
}

RawReply HttpRequest(int port, const std::string& method, const std::string& target,
                     const std::string& headers, const std::string& body) {
  return HttpRaw(port, method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
                           "Content-Length: " + std::to_string(body.size()) +
                           "\r\nConnection: close\r\n\r\n" + body);
}

EventReader::EventReader(int port, const std::string& target) : fd_(ConnectTo(port)) {
  const std::string request = "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  over_ = fd_ < 0 || send(fd_, request.data(), request.size(), MSG_NOSIGNAL) < 0;
}

EventReader::~EventReader() {
  if (fd_ >= 0) close(fd_);
}

bool EventReader::Fill(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  pollfd ready{fd_, POLLIN, 0};
  if (over_ || left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
    return false;
  }
  char buffer[65536];
  const ssize_t n = read(fd_, buffer, sizeof buffer);
  over_ = n <= 0;
  if (n > 0) seen_.append(buffer, static_cast<std::size_t>(n));
  return !over_;
}

bool EventReader::Wait(const std::string& text, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto at = seen_.find(text, mark_);
    if (at != std::string::npos) return mark_ = at + text.size(), true;
    if (!Fill(deadline)) return false;
  }
}

bool EventReader::WaitOver(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (Fill(deadline)) {
  }
  return over_;
}

}  // namespace fathom::collector
