#include "collector/cli/http/response_parser.h"
#include "collector/cli/text/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace fathom::cli {
namespace {

absl::Status NotHttp() { return absl::InvalidArgumentError("the answer is not HTTP"); }

// The whole of `text` as a number, or false.
bool ParseNumber(std::string_view text, int base, std::uint64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::string_view ResponseParser::header(const std::string& lower_name) const {
  const auto found = headers_.find(lower_name);
  return found == headers_.end() ? std::string_view() : std::string_view(found->second);
}

std::string ResponseParser::TakeBody() {
  std::string taken;
  taken.swap(body_);
  return taken;
}

absl::Status ResponseParser::Feed(std::string_view bytes) {
  pending_.append(bytes);
  for (bool progressed = true; progressed && state_ != State::kDone;) {
    if (absl::Status s = Step(&progressed); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ResponseParser::Finish() {
  if (state_ == State::kToClose) state_ = State::kDone;
  if (state_ == State::kDone) return absl::OkStatus();
  return absl::DataLossError("the connection closed before the answer was whole");
}

absl::Status ResponseParser::Step(bool* progressed) {
  switch (state_) {
    case State::kSized:
    case State::kChunk: {
      const std::size_t count = std::min<std::uint64_t>(left_, pending_.size());
      *progressed = count > 0;
      if (absl::Status s = Append(count); !s.ok()) return s;
      left_ -= count;
      if (left_ == 0) {
        state_ = state_ == State::kSized ? State::kDone : State::kChunkEnd;
        *progressed = true;
      }
      return absl::OkStatus();
    }
    case State::kToClose:
      *progressed = false;
      return Append(pending_.size());
    default:
      return StepLine(progressed);
  }
}

absl::Status ResponseParser::StepLine(bool* progressed) {
  const std::size_t newline = pending_.find('\n');
  const std::size_t used = newline == std::string::npos ? pending_.size() : newline + 1;
  if (header_bytes_ + used > limits_.header_bytes) {
    return absl::ResourceExhaustedError("the head of the answer is too long");
  }
  // Garbage without a line end is told from HTTP by its first bytes.
  if (state_ == State::kStatus && pending_.size() >= 5 && !pending_.starts_with("HTTP/")) {
    return NotHttp();
  }
  *progressed = newline != std::string::npos;
  if (!*progressed) return absl::OkStatus();
  std::string line = pending_.substr(0, newline);
  pending_.erase(0, used);
  if (line.ends_with("\r")) line.pop_back();
  const bool chunk_line = state_ == State::kChunkSize || state_ == State::kChunkEnd;
  if (!chunk_line) header_bytes_ += used;
  switch (state_) {
    case State::kStatus:
      return OnStatusLine(line);
    case State::kHeaders:
      return line.empty() ? OnHeadersEnd() : OnHeaderLine(line);
    case State::kChunkSize:
      return OnChunkSize(line);
    case State::kChunkEnd:
      state_ = State::kChunkSize;
      return line.empty() ? absl::OkStatus() : NotHttp();
    default:
      if (line.empty()) state_ = State::kDone;
      return absl::OkStatus();
  }
}

absl::Status ResponseParser::OnStatusLine(std::string_view line) {
  std::uint64_t code = 0;
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ' ||
      !ParseNumber(line.substr(9, 3), 10, &code) || code < 100) {
    return NotHttp();
  }
  status_ = static_cast<int>(code);
  state_ = State::kHeaders;
  return absl::OkStatus();
}

absl::Status ResponseParser::OnHeaderLine(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return NotHttp();
  headers_[LowerCase(line.substr(0, colon))] = std::string(StripBlanks(line.substr(colon + 1)));
  return absl::OkStatus();
}

absl::Status ResponseParser::OnHeadersEnd() {
  if (status_ < 200) {  // 1xx: the real one follows
    headers_.clear();
    state_ = State::kStatus;
    return absl::OkStatus();
  }
  if (LowerCase(header("transfer-encoding")) == "chunked") {
    state_ = State::kChunkSize;
    return absl::OkStatus();
  }
  const std::string_view length = header("content-length");
  if (status_ == 204 || status_ == 304) {
    state_ = State::kDone;
  } else if (length.empty()) {
    state_ = State::kToClose;
  } else {
    if (!ParseNumber(length, 10, &left_)) return NotHttp();
    if (left_ > limits_.body_bytes) return absl::ResourceExhaustedError("the answer is too long");
    state_ = left_ == 0 ? State::kDone : State::kSized;
  }
  return absl::OkStatus();
}

absl::Status ResponseParser::OnChunkSize(std::string_view line) {
  if (!ParseNumber(StripBlanks(line.substr(0, line.find(';'))), 16, &left_)) {
    return NotHttp();
  }
  state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  return absl::OkStatus();
}

absl::Status ResponseParser::Append(std::size_t count) {
  if (body_.size() + count > limits_.body_bytes) {
    return absl::ResourceExhaustedError("the answer is too long");
  }
  body_.append(pending_, 0, count);
  pending_.erase(0, count);
  return absl::OkStatus();
}

}  // namespace fathom::cli
