#include "daemon/agent/capture/thread_doing.h"

#include <sys/syscall.h>

#include <charconv>

#include "absl/strings/str_cat.h"

namespace fathom::agent {

std::optional<std::string_view> DoingOf(std::string_view syscall) {
  const std::string_view first = syscall.substr(0, syscall.find_first_of(" \n"));
  if (first == "running") return "running";
  long number = 0;
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), number);
  if (error != std::errc() || end != first.data() + first.size()) return std::nullopt;
  switch (number) {
    case SYS_clock_nanosleep:
    case SYS_nanosleep:
      return "sleep";
    case SYS_futex:
      return "lock";
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_connect:
    case SYS_accept4:
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
      return "network";
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_openat:
    case SYS_fsync:
    case SYS_fdatasync:
      return "file";
    case SYS_wait4:
    case SYS_waitid:
      return "child";
    case -1:
      return "running";  // blocked, but in no call: it waits for a page, or for a core
    default:
      return "other";
  }
}

std::optional<std::string_view> DoingNow(const KernelRoots& roots, std::uint32_t pid,
                                         std::uint32_t thread) {
  const auto text = ReadSmallFile(absl::StrCat(roots.proc, "/", pid, "/task/", thread, "/syscall"));
  return text.ok() ? DoingOf(*text) : std::nullopt;
}

}  // namespace fathom::agent
