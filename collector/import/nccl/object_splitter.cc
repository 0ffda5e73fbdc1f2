#include "collector/import/nccl/object_splitter.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"

namespace fathom::collector::nccl {

ObjectSplitter::ObjectSplitter(ByteSource source, std::size_t chunk_bytes)
    : source_(std::move(source)), chunk_bytes_(std::max<std::size_t>(chunk_bytes, 1)) {}

absl::StatusOr<std::string_view> ObjectSplitter::Next() {
  while (true) {
    while (at_ < size_) {
      if (Take(buffer_[at_++])) return std::string_view(buffer_.data() + begin_, at_ - begin_);
      if (depth_ > 0 && at_ - begin_ > kLargestObject) GiveUp();
    }
    const auto more = More();
    if (!more.ok()) return more.status();
    if (!*more) {
      cut_ = cut_ || depth_ > 0;
      return std::string_view();
    }
  }
}

bool ObjectSplitter::Take(char c) {
  const bool first_of_line = line_began_;
  line_began_ = c == '\n';
  if (in_string_) {
    if (c == '\n') {
      GiveUp();
    } else if (escaped_) {
      escaped_ = false;
    } else {
      escaped_ = c == '\\';
      in_string_ = c != '"';
    }
    return false;
  }
  if (c == '{') {
    if (depth_ > 0 && first_of_line) GiveUp();
    if (depth_++ == 0) begin_ = at_ - 1;
  } else if (depth_ > 0) {
    in_string_ = c == '"';
    return c == '}' && --depth_ == 0;
  }
  return false;
}

void ObjectSplitter::GiveUp() {
  ++given_up_;
  depth_ = 0;
  in_string_ = escaped_ = false;
}

absl::StatusOr<bool> ObjectSplitter::More() {
  if (ended_) return false;
  const std::size_t keep = depth_ > 0 ? begin_ : at_;
  if (size_ > keep) std::memmove(buffer_.data(), buffer_.data() + keep, size_ - keep);
  dropped_ += keep;
  size_ -= keep;
  at_ -= keep;
  begin_ = 0;
  buffer_.resize(std::max(buffer_.size(), size_ + chunk_bytes_ + kPadding));
  const auto count = source_(buffer_.data() + size_, chunk_bytes_);
  if (!count.ok() && !absl::IsDataLoss(count.status())) return count.status();
  ended_ = !count.ok() || *count == 0;
  cut_ = !count.ok();
  if (count.ok()) size_ += *count;
  return !ended_;
}

}  // namespace fathom::collector::nccl
