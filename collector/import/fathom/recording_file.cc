#include "collector/import/fathom/recording_file.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/types/recording_format.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kReadBytes = 256 * 1024;
constexpr std::size_t kMaxNotes = 8;  // of one file; more say nothing new

}  // namespace

absl::StatusOr<RecordingFile> RecordingFile::Open(const std::string& path,
                                                  const ImportLimits& limits) {
  auto file = InputFile::Open(path, limits);
  if (!file.ok()) return file.status();
  return RecordingFile(path, *std::move(file));
}

absl::StatusOr<const v1::RecordingEntry*> RecordingFile::Next() {
  while (next_entry_ >= block_.entries_size()) {
    const auto more = NextBlock();
    if (!more.ok()) return more.status();
    if (!*more) return nullptr;
  }
  return &block_.entries(next_entry_++);
}

absl::StatusOr<bool> RecordingFile::NextBlock() {
  block_.Clear();
  next_entry_ = 0;
  const auto found = FindHeader();
  if (!found.ok() || !*found) return found;
  const RecordingBlockSize size = FromHeader(std::string_view(buffer_).substr(at_));
  if (size.raw > kMaxRecordingBlockBytes || size.stored > ZSTD_compressBound(size.raw)) {
    LeaveOut("a block of impossible size is left out");
    return true;
  }
  const auto whole = Need(kRecordingHeaderBytes + size.stored);
  if (!whole.ok()) return whole;
  const std::string_view here = std::string_view(buffer_).substr(at_ + kRecordingHeaderBytes);
  if (*whole && Inflate(here.substr(0, size.stored), size.raw)) {
    at_ += kRecordingHeaderBytes + size.stored;
    return true;
  }
  LeaveOut(*whole ? "a broken block is left out" : "the last block is cut and left out");
  return true;
}

void RecordingFile::LeaveOut(std::string_view why) {
  Note(why);
  at_ += kRecordingMagic.size();
  searching_ = true;
}

bool RecordingFile::Inflate(std::string_view stored, std::size_t raw_bytes) {
  raw_.resize(raw_bytes);
  const std::size_t got = ZSTD_decompress(raw_.data(), raw_.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0 || got != raw_bytes) return false;
  const bool parsed = block_.ParseFromString(raw_);
  if (!parsed) block_.Clear();
  return parsed;
}

absl::StatusOr<bool> RecordingFile::Need(std::size_t size) {
  if (left() >= size) return true;
  buffer_.erase(0, at_);
  dropped_ += at_;
  at_ = 0;
  while (buffer_.size() < size) {
    const std::size_t have = buffer_.size();
    const std::size_t wanted = std::max(kReadBytes, size - have);
    buffer_.resize(have + wanted);
    const auto count = file_.Read(buffer_.data() + have, wanted);
    buffer_.resize(have + (count.ok() ? *count : 0));
    // A zipped copy that ends early still holds what came before.
    if (!count.ok() && !absl::IsDataLoss(count.status())) return count.status();
    if (!count.ok() || *count == 0) return false;
  }
  return true;
}

absl::StatusOr<bool> RecordingFile::FindHeader() {
  bool skipped = std::exchange(searching_, false);
  while (true) {
    const auto enough = Need(kRecordingHeaderBytes);
    if (!enough.ok()) return enough;
    if (!*enough) {
      if (left() > 0 && !skipped) Note("the last block is cut and left out");
      return false;
    }
    const std::size_t magic = buffer_.find(kRecordingMagic, at_);
    if (magic == at_) return true;
    if (!std::exchange(skipped, true)) Note("no block begins here; looking for the next one");
    const std::size_t keep = kRecordingMagic.size() - 1;  // the magic may stand across the border
    at_ = magic == std::string::npos ? buffer_.size() - std::min(left(), keep) : magic;
    if (magic == std::string::npos) {
      const auto more = Need(left() + 1);
      if (!more.ok() || !*more) return more;
    }
  }
}

void RecordingFile::Note(std::string_view what) {
  if (notes_.size() < kMaxNotes) {
    notes_.push_back(absl::StrCat(path_, ": offset ", dropped_ + at_, ": ", std::string(what)));
  }
}

}  // namespace fathom::collector
