#include "collector/import/kineto/trace/trace_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "collector/import/kineto/trace/event_parser.h"

namespace fathom::collector::kineto {
namespace {

constexpr std::size_t kNowhere = std::string::npos;
constexpr std::string_view kEventsKey = "\"traceEvents\"";
// What most writers begin an event with, whatever the first one began with.
constexpr std::string_view kPhaseKey = "\"ph\"";
// Parsed at a time behind a broken event, so that many of them cost no more than one.
constexpr std::size_t kPieceBytes = 8192;
// Held at first: the head of a trace, or a small one.
constexpr std::size_t kFirstBytes = 65536;
// How far the next cut is searched first: some events.
constexpr std::size_t kReachBytes = 1024;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

// Kineto printed `"Process Group Description": , ` where there was none. Puts a 0 where a value is
// missing; false if none is. A quote before the colon ends a string, so this is no text of one.
bool FillMissing(char* at, char* const end) {
  constexpr std::string_view kMissing = "\": ,";
  bool any = false;
  while ((at = std::search(at, end, kMissing.begin(), kMissing.end())) != end) {
    at[2] = '0';
    any = true;
  }
  return any;
}

class Reader {
 public:
  Reader(const ByteSource& source, TraceSink& sink, std::size_t chunk_bytes)
      : source_(source),
        sink_(sink),
        event_parser_(sink),
        chunk_bytes_(std::max<std::size_t>(chunk_bytes, 64)) {}

  absl::StatusOr<ReadSummary> Run() {
    if (auto status = ReadHead(); !status.ok()) return status;
    for (;;) {
      if (auto status = Fill(chunk_bytes_); !status.ok()) return status;
      LearnKey();
      const std::size_t cut = LastCut(size_);
      if (cut == kNowhere) {
        if (ended_) break;
        if (size_ > kLargestPiece) return TooLarge("event");
        chunk_bytes_ = size_ * 2;
        continue;
      }
      ParseChunk(0, cut);
      Drop(cut);
    }
    ParseLast();
    return std::move(summary_);
  }

 private:
  static absl::Status TooLarge(std::string_view what) {
    return absl::ResourceExhaustedError(
        absl::StrCat("one ", std::string(what), " is larger than ", kLargestPiece, " bytes"));
  }

  std::string_view Text() const { return {buffer_.data(), size_}; }

  // Bytes that fit behind those held, at most to `wanted`. The buffer grows as they come: of many
  // small traces, whole chunks would cost more than what is in them.
  std::size_t Room(std::size_t wanted) {
    constexpr std::size_t kPadding = simdjson::SIMDJSON_PADDING;
    if (buffer_.size() <= size_ + kPadding) {
      const std::size_t larger = std::max(2 * size_, kFirstBytes);
      buffer_.resize(std::min(wanted, larger) + kPadding);
    }
    return std::min(wanted, buffer_.size() - kPadding) - size_;
  }

  // Reads until `wanted` bytes are held or the source ends.
  absl::Status Fill(std::size_t wanted) {
    while (!ended_ && size_ < wanted) {
      const std::size_t room = Room(wanted);  // may move the buffer
      auto got = source_(buffer_.data() + size_, room);
      if (!got.ok()) {
        // A cut archive is a cut trace: what was inflated is still worth reading.
        if (!absl::IsDataLoss(got.status())) return got.status();
        summary_.truncated = ended_ = true;
        break;
      }
      ended_ = *got == 0;
      size_ += *got;
      summary_.bytes += *got;
    }
    return absl::OkStatus();
  }

  // Leaves the buffer beginning with the '[' of the events.
  absl::Status ReadHead() {
    for (std::size_t wanted = std::min(chunk_bytes_, kFirstBytes);; wanted *= 2) {
      if (auto status = Fill(wanted); !status.ok()) return status;
      const std::size_t first = SkipSpace(Text(), StartsWithMark() ? 3 : 0);
      if (first < size_ && buffer_[first] == '[') return BeginAt(first, first);
      std::size_t key = kNowhere;
      const std::size_t open = FindEvents(key);
      if (open != kNowhere) return BeginAt(key, open);
      if (ended_) return absl::InvalidArgumentError("no \"traceEvents\": not a Chrome trace");
      if (wanted > kLargestPiece) return TooLarge("header");
    }
  }

  bool StartsWithMark() const { return Text().starts_with("\xEF\xBB\xBF"); }

  // Place of the '[' after the key of the events; `key` its own place.
  std::size_t FindEvents(std::size_t& key) const {
    const std::string_view text = Text();
    for (key = text.find(kEventsKey); key != kNowhere; key = text.find(kEventsKey, key + 1)) {
      const std::size_t colon = SkipSpace(text, key + kEventsKey.size());
      if (colon >= text.size() || text[colon] != ':') continue;
      const std::size_t open = SkipSpace(text, colon + 1);
      if (open < text.size() && text[open] == '[') return open;
    }
    return kNowhere;
  }

  absl::Status BeginAt(std::size_t head_end, std::size_t open) {
    ParseHeaderText(std::string(Text().substr(0, head_end)) + "\"\":0}");
    Drop(open);
    return absl::OkStatus();
  }

  void ParseHeaderText(std::string text) {
    FillMissing(text.data(), text.data() + text.size());
    const simdjson::padded_string padded(text);
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (parser_.iterate(padded).get(document) == simdjson::SUCCESS &&
        document.get_object().get(object) == simdjson::SUCCESS) {
      ParseHeader(object, summary_.header);
    }
  }

  // Forgets the bytes before `at`; what was a comma between events becomes the next '['.
  void Drop(std::size_t at) {
    std::memmove(buffer_.data(), buffer_.data() + at, size_ - at);
    size_ -= at;
    dropped_ += at;
    if (size_ > 0) buffer_[0] = '[';
  }

  void LearnKey() {
    if (!keys_.empty() || size_ == 0) return;
    const std::size_t open = SkipSpace(Text(), 1);
    if (open >= size_ || buffer_[open] != '{') return;
    const std::size_t quote = SkipSpace(Text(), open + 1);
    if (quote >= size_ || buffer_[quote] != '"') return;
    const std::size_t end = Text().find('"', quote + 1);
    if (end == kNowhere || end == quote + 1) return;
    keys_ = {std::string(Text().substr(quote, end - quote + 1))};
    if (keys_.front() != kPhaseKey) keys_.emplace_back(kPhaseKey);
  }

  // The place of `expected` if it stands before `at`, spaces apart; else kNowhere.
  std::size_t Before(std::size_t at, char expected) const {
    if (at == kNowhere) return kNowhere;
    while (at > 0 && IsSpace(buffer_[at - 1])) --at;
    return at > 0 && buffer_[at - 1] == expected ? at - 1 : kNowhere;
  }

  // The comma of a cut whose key begins at `quote`, or kNowhere.
  std::size_t CutBefore(std::size_t quote) const {
    const std::size_t comma = Before(Before(quote, '{'), ',');
    return Before(comma, '}') == kNowhere ? kNowhere : comma;
  }

  std::size_t LastCut(std::size_t limit) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const std::size_t cut = LastCutAt(keys_[i], limit);
      if (cut == kNowhere) continue;
      std::swap(keys_[0], keys_[i]);  // what comes next begins alike
      return cut;
    }
    return kNowhere;
  }

  std::size_t LastCutAt(std::string_view key, std::size_t limit) const {
    const std::string_view text = Text().substr(0, limit);
    for (std::size_t at = text.rfind(key); at != kNowhere && at > 0; at = text.rfind(key, at - 1)) {
      const std::size_t cut = CutBefore(at);
      if (cut != kNowhere) return cut;
    }
    return kNowhere;
  }

  // Looks twice as far each time, so that a key which comes no more costs only as much as the way
  // to the next cut at another one.
  std::size_t NextCut(std::size_t from, std::size_t limit) const {
    for (std::size_t reach = kReachBytes;; reach *= 2) {
      const std::size_t end = std::min(limit, from + reach);
      std::size_t next = kNowhere;
      for (const std::string& key : keys_) next = std::min(next, NextCutAt(key, from, end));
      if (next != kNowhere || end == limit) return next;
    }
  }

  std::size_t NextCutAt(std::string_view key, std::size_t from, std::size_t limit) const {
    const std::string_view text = Text().substr(0, limit);
    for (std::size_t at = text.find(key, from); at != kNowhere; at = text.find(key, at + 1)) {
      const std::size_t cut = CutBefore(at);
      if (cut != kNowhere && cut > from) return cut;
    }
    return kNowhere;
  }

  // The events of [from, cut): buffer_[from] is a comma or '[', buffer_[cut] a comma.
  void ParseChunk(std::size_t from, std::size_t cut) {
    bool filled = false;
    for (std::size_t piece = cut - from; from < cut;) {
      std::size_t to = piece < cut - from ? NextCut(from + piece, cut) : cut;
      if (to == kNowhere) to = cut;
      std::size_t failed = from;
      if (ParsePiece(from, to, failed)) {
        from = to;
        continue;
      }
      piece = kPieceBytes;
      if (!std::exchange(filled, true) &&
          FillMissing(buffer_.data() + failed, buffer_.data() + cut)) {
        while (failed > from && buffer_[failed] != ',') --failed;
        from = failed;
        continue;
      }
      Skipped(failed);
      from = std::min(NextCut(failed + 1, cut), cut);
    }
  }

  bool ParsePiece(std::size_t from, std::size_t to, std::size_t& failed) {
    buffer_[from] = '[';
    buffer_[to] = ']';
    const bool parsed = ParseArray(from, to + 1, failed);
    buffer_[to] = ',';
    return parsed;
  }

  void Skipped(std::size_t at) {
    if (summary_.skipped++ == 0) summary_.first_skipped_at = dropped_ + at;
  }

  // Parses buffer_[from, to) as an array. False: broken at the event that begins at `failed`.
  bool ParseArray(std::size_t from, std::size_t to, std::size_t& failed) {
    simdjson::ondemand::document document;
    if (!Iterate(from, to, document)) return false;
    simdjson::ondemand::array array;
    if (document.get_array().get(array) != simdjson::SUCCESS) return false;
    return ParseEvents(array, failed);
  }

  bool Iterate(std::size_t from, std::size_t to, simdjson::ondemand::document& document) {
    const std::size_t room = buffer_.size() - from;
    char* const text = buffer_.data() + from;
    auto error = parser_.iterate(text, to - from, room).get(document);
    if (error == simdjson::UTF8_ERROR) {
      std::replace_if(
          text, text + (to - from), [](char c) { return (c & 0x80) != 0; }, '?');
      error = parser_.iterate(text, to - from, room).get(document);
    }
    return error == simdjson::SUCCESS;
  }

  bool ParseEvents(simdjson::ondemand::array& array, std::size_t& failed) {
    for (auto element : array) {
      simdjson::ondemand::value value;
      if (element.get(value) != simdjson::SUCCESS) return false;
      failed = static_cast<std::size_t>(value.raw_json_token().data() - buffer_.data());
      simdjson::ondemand::object object;
      if (value.get_object().get(object) != simdjson::SUCCESS) return false;
      if (!Deliver(object)) return false;
    }
    return true;
  }

  bool Deliver(simdjson::ondemand::object& object) {
    if (!event_parser_.Parse(object)) return false;
    ++summary_.events;
    sink_.OnEvent(event_parser_.event(), event_parser_.args());
    return true;
  }

  // What is left has no cut: the last event, the end of the list, and what follows it.
  void ParseLast() {
    if (size_ == 0) {
      summary_.truncated = true;
      return;
    }
    std::string text = "{\"e\":" + std::string(Text());
    while (!text.empty() && (IsSpace(text.back()) || text.back() == '\0')) text.pop_back();
    if (text.ends_with(']')) text.push_back('}');  // a bare list of events
    FillMissing(text.data(), text.data() + text.size());
    size_ = text.size();
    buffer_.assign(text.begin(), text.end());
    buffer_.resize(size_ + simdjson::SIMDJSON_PADDING);
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (!Iterate(0, size_, document) || document.get_object().get(object) != simdjson::SUCCESS ||
        !ParseTail(object)) {
      summary_.truncated = true;
    }
  }

  bool ParseTail(simdjson::ondemand::object& object) {
    bool events = true;
    for (auto entry : object) {
      simdjson::ondemand::field field;
      if (std::move(entry).get(field) != simdjson::SUCCESS) return false;
      const std::string_view key(field.key().raw(), 1);
      simdjson::ondemand::value value = field.value();
      if (std::exchange(events, false)) {
        simdjson::ondemand::array array;
        std::size_t failed = 0;
        if (value.get_array().get(array) != simdjson::SUCCESS) return false;
        if (!ParseEvents(array, failed)) return false;
        continue;
      }
      const char* raw = field.key().raw();
      const std::string_view name(raw, std::strcspn(raw, "\""));
      if (!ParseHeaderField(name, value, summary_.header)) return false;
    }
    return true;
  }

  const ByteSource& source_;
  TraceSink& sink_;
  EventParser event_parser_;
  std::size_t chunk_bytes_;
  simdjson::ondemand::parser parser_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;
  std::uint64_t dropped_ = 0;  // bytes before buffer_[0]
  bool ended_ = false;
  std::vector<std::string> keys_;  // what events begin with, quotes included; the likelier first
  ReadSummary summary_;
};

}  // namespace

absl::StatusOr<ReadSummary> ReadTrace(const ByteSource& source, TraceSink& sink,
                                      std::size_t chunk_bytes) {
  return Reader(source, sink, chunk_bytes).Run();
}

}  // namespace fathom::collector::kineto
