#include "daemon/service/segment_log.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "daemon/service/crc32c.h"

namespace fathom::service {
namespace {

constexpr char kMagic[] = "FATHSEG1";
constexpr std::size_t kHeaderBytes = 24;  // magic, first sequence, wall time
constexpr std::size_t kHeadBytes = 16;    // length, checksum, sequence

template <typename T>
T At(std::string_view bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void PutRecord(std::string& out, std::uint64_t sequence, std::string_view bytes) {
  std::string number;
  Put(number, sequence);
  Put(out, static_cast<std::uint32_t>(bytes.size()));
  Put(out, Crc32c(bytes, Crc32c(number)));
  out += number;
  out += bytes;
}

bool IsSound(std::string_view record) {
  return Crc32c(record.substr(8)) == At<std::uint32_t>(record, 4);
}

std::string Whole(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return "";
  struct stat facts {};
  std::string bytes;
  if (fstat(file, &facts) == 0) bytes.resize(static_cast<std::size_t>(facts.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(file, bytes.data() + have, bytes.size() - have);
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  close(file);
  bytes.resize(have);
  return bytes;
}

absl::Status Says(const std::string& what) { return absl::ErrnoToStatus(errno, what); }

}  // namespace

SegmentLog::SegmentLog(std::string folder, SegmentLimits limits, Standing standing, Tell tell)
    : folder_(std::move(folder)),
      limits_(limits),
      standing_(std::move(standing)),
      tell_(std::move(tell)) {}

SegmentLog::~SegmentLog() {
  if (file_ >= 0) {
    (void)fdatasync(file_);
    close(file_);
  }
  if (lock_ >= 0) close(lock_);
}

absl::StatusOr<std::unique_ptr<SegmentLog>> SegmentLog::Open(const std::string& folder,
                                                             SegmentLimits limits,
                                                             Standing standing, Tell tell) {
  std::unique_ptr<SegmentLog> log(
      new SegmentLog(folder, limits, std::move(standing), std::move(tell)));
  if (absl::Status status = log->Lock(); !status.ok()) return status;
  if (absl::Status status = log->List(); !status.ok()) return status;
  log->Scan();
  return log;
}

absl::Status SegmentLog::Lock() {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder_).parent_path(), error);
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    return Says(absl::StrCat("cannot make the folder ", folder_));
  }
  const std::string path = folder_ + "/lock";
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) return Says(absl::StrCat("cannot open ", path));
  if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("another process writes in ", folder_));
}

absl::Status SegmentLog::List() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    Segment segment{.path = entry.path().string()};
    const bool named = entry.path().extension() == ".seg" &&
                       absl::SimpleAtoi(entry.path().stem().string(), &segment.first);
    if (named && segment.first > 0) segments_.push_back(std::move(segment));
  }
  std::sort(segments_.begin(), segments_.end(),
            [](const Segment& a, const Segment& b) { return a.first < b.first; });
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("cannot list ", folder_, ": ", error.message()));
}

void SegmentLog::Scan() {
  for (Segment& segment : segments_) {
    next_ = std::max(next_, segment.first);
    Walk(segment, 0, true, [this](std::uint64_t sequence, std::string_view) {
      next_ = std::max(next_, sequence + 1);
      return true;
    });
    struct stat facts {};
    if (stat(segment.path.c_str(), &facts) != 0) continue;
    segment.bytes = static_cast<std::uint64_t>(facts.st_size);
    segment.begun_ns = facts.st_mtim.tv_sec * std::int64_t{1'000'000'000};
    counters_.bytes += segment.bytes;
  }
  // A segment that holds nothing has the name that the next one needs.
  if (!segments_.empty() && segments_.back().first == next_) ++next_;
  first_of_this_opening_ = next_;
}

std::uint64_t SegmentLog::Walk(const Segment& segment, std::uint64_t offset, bool telling,
                               const std::function<bool(std::uint64_t, std::string_view)>& take) {
  const std::string bytes = Whole(segment.path);
  const std::string_view all = bytes;
  const auto problem = [&](std::uint64_t& counter, std::uint64_t at, const char* what) {
    if (!telling) return;
    ++counter;
    tell_(absl::StrCat(segment.path, " at byte ", at, ": ", what));
  };
  if (!all.starts_with(kMagic) || all.size() < kHeaderBytes) {
    problem(counters_.corrupt, 0, "no segment of this version, left out");
    return offset;
  }
  std::uint64_t at = std::max<std::uint64_t>(offset, kHeaderBytes);
  while (at < all.size()) {
    const std::uint64_t left = all.size() - at;
    const std::uint32_t length = left < kHeadBytes ? 0 : At<std::uint32_t>(all, at);
    if (length > kMaxRecordBytes) {
      problem(counters_.corrupt, at, "a length that cannot be, the rest is left out");
      return all.size();
    }
    if (left < kHeadBytes || left - kHeadBytes < length) {
      problem(counters_.torn, at, "the last record was not written to its end");
      return at;
    }
    const std::string_view record = all.substr(at, kHeadBytes + length);
    if (!IsSound(record)) {
      problem(counters_.corrupt, at, "a record with a wrong checksum is left out");
    } else if (!take(At<std::uint64_t>(record, 8), record.substr(kHeadBytes))) {
      return at;
    }
    at += kHeadBytes + length;
  }
  return at;
}

void SegmentLog::ReadEarlier(const Take& take) {
  for (const Segment& segment : segments_) {
    if (segment.first >= first_of_this_opening_) return;
    Walk(segment, 0, false, [&take](std::uint64_t sequence, std::string_view bytes) {
      take(sequence, bytes);
      return true;
    });
  }
}

std::uint64_t SegmentLog::Read(std::uint64_t sequence, std::uint64_t bytes, const Take& take) {
  std::uint64_t read = 0;
  for (std::size_t i = 0; i < segments_.size() && read < bytes; ++i) {
    const bool beyond = i + 1 < segments_.size() && segments_[i + 1].first <= sequence;
    if (beyond) continue;
    const Segment& segment = segments_[i];
    const bool goes_on = place_.segment == segment.first && place_.sequence == sequence;
    const std::uint64_t from = goes_on ? place_.offset : 0;
    const std::uint64_t end =
        Walk(segment, from, false, [&](std::uint64_t number, std::string_view record) {
          if (number < sequence) return true;
          if (read >= bytes) return false;
          read += record.size() + kHeadBytes;
          sequence = number + 1;
          take(number, record);
          return true;
        });
    place_ = {segment.first, sequence, end};
  }
  return sequence;
}

absl::Status SegmentLog::Failed(const std::string& what) {
  const absl::Status status = Says(what);
  ++counters_.write_errors;
  return status;
}

absl::Status SegmentLog::Begin(WallNs now) {
  Segment segment{
      .path = absl::StrFormat("%s/%020d.seg", folder_, next_), .first = next_, .begun_ns = now.ns};
  const int file = open(segment.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return Failed(absl::StrCat("cannot make ", segment.path));
  std::string head(kMagic, 8);
  Put(head, segment.first);
  Put(head, now.ns);
  for (const std::string& record : standing_()) PutRecord(head, 0, record);
  const int before = std::exchange(file_, file);
  segments_.push_back(segment);
  const absl::Status status = Write(head);
  if (status.ok()) {
    segments_.back().head = head.size() - kHeaderBytes;
    if (before >= 0) {
      if (unsynced_) (void)fdatasync(before);
      close(before);
    }
    return status;
  }
  close(std::exchange(file_, before));
  (void)unlink(segment.path.c_str());
  segments_.pop_back();
  return status;
}

absl::Status SegmentLog::Write(std::string_view bytes) {
  Segment& segment = segments_.back();
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t more = write(file_, bytes.data() + written, bytes.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) {
      const absl::Status status = Failed(absl::StrCat("cannot write ", segment.path));
      // Else a torn record would hide what comes after it.
      if (ftruncate(file_, static_cast<off_t>(segment.bytes)) == 0) {
        (void)lseek(file_, static_cast<off_t>(segment.bytes), SEEK_SET);
      }
      return status;
    }
    written += static_cast<std::size_t>(more);
  }
  segment.bytes += bytes.size();
  counters_.bytes += bytes.size();
  unsynced_ = true;
  return absl::OkStatus();
}

absl::Status SegmentLog::Append(const std::vector<std::string_view>& records, WallNs now) {
  if (records.empty()) return absl::OkStatus();
  const bool full =
      file_ >= 0 && segments_.back().bytes >= limits_.segment_bytes + 3 * segments_.back().head;
  if (file_ < 0 || full) {
    const absl::Status status = Begin(now);
    if (!status.ok()) return status;
    while (counters_.bytes > limits_.max_bytes && segments_.size() > 1) {
      RemoveFront();
      ++counters_.segments_pushed;
    }
  }
  std::string bytes;
  std::uint64_t sequence = next_;
  for (const std::string_view record : records) PutRecord(bytes, sequence++, record);
  const absl::Status status = Write(bytes);
  if (status.ok()) next_ = sequence;
  return status;
}

absl::Status SegmentLog::Sync() {
  if (!unsynced_ || file_ < 0) return absl::OkStatus();
  if (fdatasync(file_) != 0) return Failed(absl::StrCat("cannot sync ", segments_.back().path));
  unsynced_ = false;
  return absl::OkStatus();
}

void SegmentLog::RemoveFront() {
  (void)unlink(segments_.front().path.c_str());
  counters_.bytes -= std::min(counters_.bytes, segments_.front().bytes);
  segments_.pop_front();
}

void SegmentLog::RemoveBefore(std::uint64_t sequence) {
  const auto done = [&] {
    const std::size_t open = file_ >= 0 ? 1 : 0;
    if (segments_.size() <= open) return false;
    const std::uint64_t after = segments_.size() > 1 ? segments_[1].first : next_;
    return after <= sequence;
  };
  while (done()) RemoveFront();
}

void SegmentLog::RemoveOlderThan(WallNs when) {
  // What comes after a segment began when its last record was there.
  while (segments_.size() > 1 && segments_[1].begun_ns < when.ns) RemoveFront();
}

std::uint64_t SegmentLog::oldest() const {
  return segments_.empty() ? next_ : segments_.front().first;
}

std::vector<std::uint64_t> SegmentLog::Segments() const {
  std::vector<std::uint64_t> firsts;
  for (const Segment& segment : segments_) firsts.push_back(segment.first);
  return firsts;
}

}  // namespace fathom::service
