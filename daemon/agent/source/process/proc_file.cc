#include "daemon/agent/source/process/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxBytes = 64 * 1024;

}  // namespace

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  std::string text;
  char chunk[4096];
  absl::Status status;
  while (text.size() < kMaxBytes) {
    const ssize_t got = read(fd, chunk, sizeof(chunk));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      // A process that ends between open and read.
      status = errno == ESRCH ? absl::NotFoundError(absl::StrCat(path, ": gone"))
                              : absl::ErrnoToStatus(errno, path);
    }
    if (got <= 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  close(fd);
  if (!status.ok()) return status;
  return text;
}

std::optional<double> NumberIn(const std::string& path) {
  const auto text = ReadSmallFile(path);
  if (!text.ok()) return std::nullopt;
  const absl::string_view first = absl::string_view(*text).substr(0, text->find_first_of(" \n"));
  double value = 0;
  if (!absl::SimpleAtod(first, &value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> NumberAfter(std::string_view text, std::string_view key) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const std::size_t digit = line.find_first_not_of(": \t");
    if (digit == std::string_view::npos || digit == 0) continue;
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(line.data() + digit, line.data() + line.size(), value);
    if (parsed.ec == std::errc()) return value;
  }
  return std::nullopt;
}

CpuTicks CpuTicksIn(std::string_view numbers) {
  constexpr std::size_t kIdle = 3, kIoWait = 4, kGuest = 8;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(absl::string_view(numbers.data(), numbers.size()), ' ', absl::SkipEmpty());
  CpuTicks sum;
  for (std::size_t i = 0; i < parts.size() && i < kGuest; ++i) {
    std::uint64_t ticks = 0;
    (void)absl::SimpleAtoi(parts[i], &ticks);
    sum.all += ticks;
    if (i != kIdle && i != kIoWait) sum.spent += ticks;
  }
  return sum;
}

std::string_view AfterName(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string_view::npos ? std::string_view() : stat.substr(name_end + 1);
}

}  // namespace fathom::agent
