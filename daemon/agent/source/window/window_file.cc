#include "daemon/agent/source/window/window_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>

#include "absl/strings/str_cat.h"
#include "daemon/agent/source/ring/byte_field.h"
#include "daemon/agent/source/ring/region_header_check.h"
#include "proto/types/bounds.h"

namespace fathom::agent {
namespace {

using abi::WindowFileHeader;
using Bytes = std::span<const unsigned char>;

absl::StatusOr<std::vector<unsigned char>> ReadWhole(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  std::vector<unsigned char> bytes(abi::kWindowFileBytes);
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got =
        pread(fd, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  close(fd);
  bytes.resize(have);
  return bytes;
}

template <typename T>
bool Is(Bytes bytes, std::size_t offset, T wanted) {
  return FieldAt<T>(bytes, offset) == wanted;
}

bool Plausible(std::int64_t ns) { return ns >= 0 && ns <= kFarMonoNs; }
bool Plausible(const abi::ClockPair& pair) {
  return Plausible(pair.mono_ns) && Plausible(pair.cupti_ns);
}

abi::ClockPair PairAt(Bytes bytes, std::size_t offset) {
  return {FieldAt<std::int64_t>(bytes, offset + offsetof(abi::ClockPair, mono_ns)),
          FieldAt<std::int64_t>(bytes, offset + offsetof(abi::ClockPair, cupti_ns)),
          FieldAt<std::int64_t>(bytes, offset + offsetof(abi::ClockPair, width_ns))};
}

absl::Status CheckHeader(Bytes bytes, std::uint32_t ticket) {
  const auto bad = [](const char* field) {
    return absl::InvalidArgumentError(absl::StrCat("window file: field ", field));
  };
  if (bytes.size() < abi::kWindowFileBytes) return bad("size");
  if (!Is(bytes, offsetof(WindowFileHeader, magic), abi::kWindowMagic)) return bad("magic");
  if (!Is(bytes, offsetof(WindowFileHeader, version), abi::kWindowVersion)) return bad("version");
  if (!Is(bytes, offsetof(WindowFileHeader, ticket), ticket)) return bad("ticket");
  if (!Is(bytes, offsetof(WindowFileHeader, capacity), abi::kWindowRecords)) return bad("capacity");
  if (FieldAt<std::uint32_t>(bytes, offsetof(WindowFileHeader, ready)) == 0) {
    return absl::UnavailableError("window file: not complete");
  }
  if (!Plausible(PairAt(bytes, offsetof(WindowFileHeader, opened)))) return bad("opened");
  if (!Plausible(PairAt(bytes, offsetof(WindowFileHeader, closed)))) return bad("closed");
  return absl::OkStatus();
}

std::vector<std::string> NamesOf(Bytes bytes) {
  const std::uint32_t count = std::min(
      FieldAt<std::uint32_t>(bytes, offsetof(WindowFileHeader, name_count)), abi::kWindowNames);
  std::vector<std::string> names;
  names.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    names.push_back(TextField(bytes.subspan(
        abi::kWindowNamesOffset + std::size_t{i} * abi::kWindowNameBytes, abi::kWindowNameBytes)));
  }
  return names;
}

Activity ActivityOf(Bytes record, std::int64_t to_mono_ns, std::size_t names) {
  Activity activity;
  const auto start_ns = FieldAt<std::int64_t>(record, offsetof(abi::WindowRecord, start_ns));
  if (!Plausible(start_ns)) return activity;
  activity.begin_ns = start_ns + to_mono_ns;
  activity.end_ns =
      activity.begin_ns + FieldAt<std::uint32_t>(record, offsetof(abi::WindowRecord, duration_ns));
  const auto kind = FieldAt<std::uint8_t>(record, offsetof(abi::WindowRecord, kind));
  const bool known = kind <= static_cast<std::uint8_t>(abi::ActivityKind::kOverhead);
  activity.kind = known ? static_cast<abi::ActivityKind>(kind) : abi::ActivityKind::kNone;
  activity.detail = FieldAt<std::uint8_t>(record, offsetof(abi::WindowRecord, detail));
  activity.name = FieldAt<std::uint16_t>(record, offsetof(abi::WindowRecord, name));
  if (activity.name >= names) activity.name = abi::kNoWindowName;
  activity.bytes = FieldAt<std::uint64_t>(record, offsetof(abi::WindowRecord, bytes));
  return activity;
}

}  // namespace

absl::StatusOr<WindowContents> ReadWindowFile(const std::string& path, std::uint32_t ticket) {
  const absl::StatusOr<std::vector<unsigned char>> whole = ReadWhole(path);
  if (!whole.ok()) return whole.status();
  const Bytes bytes(*whole);
  if (absl::Status status = CheckHeader(bytes, ticket); !status.ok()) return status;
  const abi::ClockPair opened = PairAt(bytes, offsetof(WindowFileHeader, opened));
  const abi::ClockPair closed = PairAt(bytes, offsetof(WindowFileHeader, closed));
  WindowContents out;
  out.names = NamesOf(bytes);
  out.lost = FieldAt<std::uint32_t>(bytes, offsetof(WindowFileHeader, lost));
  out.clock_residual_ns = (closed.cupti_ns - opened.cupti_ns) - (closed.mono_ns - opened.mono_ns);
  const std::uint32_t count = std::min(
      FieldAt<std::uint32_t>(bytes, offsetof(WindowFileHeader, record_count)), abi::kWindowRecords);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Bytes record =
        bytes.subspan(abi::kWindowRecordsOffset + std::size_t{i} * sizeof(abi::WindowRecord),
                      sizeof(abi::WindowRecord));
    const Activity activity =
        ActivityOf(record, opened.mono_ns - opened.cupti_ns, out.names.size());
    if (activity.kind != abi::ActivityKind::kNone) out.activities.push_back(activity);
  }
  return out;
}

std::string WindowFileName(std::uint32_t pid, std::uint32_t generation, std::uint32_t ticket) {
  return absl::StrCat(pid, "-", generation, "-", ticket, ".window");
}

}  // namespace fathom::agent
