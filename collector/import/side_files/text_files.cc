#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "collector/import/reading/rank_name.h"
#include "collector/import/reading/text.h"
#include "collector/import/side_files/side_files.h"

namespace fathom::collector::side_files {
namespace {

using diagnosis::EndedBy;
using diagnosis::RankRecord;

constexpr std::size_t kLastWords = 200;

// Frames of py-spy's main thread, innermost first, without the address of unnamed ones.
std::vector<std::string_view> MainThread(std::string_view text) {
  std::vector<std::string_view> frames;
  bool in_main = false;
  for (std::string_view line : text::Split(text, '\n')) {
    if (line.starts_with("Thread ")) {
      if (in_main) break;
      in_main = text::Contains(line, "\"MainThread\"");
    } else if (in_main) {
      line = text::Trim(line);
      if (!line.empty() && !line.starts_with("0x")) frames.push_back(line);
    }
  }
  return frames;
}

bool IsPython(std::string_view frame) { return text::Contains(frame, ".py:"); }

bool IsCommunication(std::string_view frame) {
  constexpr std::array<std::string_view, 6> kMarks = {
      "c10d::", "torch/distributed/", "gloo::", "ncclGroup", "ncclComm", "distributed_c10d"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](std::string_view mark) { return text::Contains(frame, mark); });
}

// A Python frame that only hands over to native code, which this stack does not show.
bool HidesNative(const std::vector<std::string_view>& frames) {
  return std::all_of(frames.begin(), frames.end(), IsPython) &&
         (text::Contains(frames.front(), "torch/") || text::Contains(frames.front(), "cuda"));
}

std::string_view LastLine(std::string_view text) {
  std::string_view last;
  for (std::string_view line : text::Split(text, '\n')) {
    line = text::Trim(line);
    if (!line.empty()) last = line;
  }
  return last;
}

std::string LastWords(std::string_view text) {
  std::string_view last = LastLine(text);
  last = last.substr(0, std::min(last.find(". "), last.size()));
  std::string words(last.substr(0, kLastWords));
  for (char& c : words) {
    if (!(c >= ' ' && c <= '~')) c = ' ';
  }
  return words;
}

EndedBy HowItEnded(std::string_view text) {
  constexpr std::array<std::string_view, 6> kPeer = {
      "Connection closed by peer", "Connection reset by peer", "Broken pipe",
      "remote process exited",     "ncclRemoteError",          "Socket closed"};
  constexpr std::array<std::string_view, 3> kTimeout = {"collective operation timeout",
                                                        "Timed out waiting", "Timeout waiting"};
  const auto contains = [&](std::string_view mark) { return text::Contains(text, mark); };
  if (std::any_of(kPeer.begin(), kPeer.end(), contains)) return EndedBy::kPeerLost;
  if (std::any_of(kTimeout.begin(), kTimeout.end(), contains)) return EndedBy::kTimeout;
  const bool error = contains("Traceback (most recent call last)") || contains("Error:") ||
                     contains("Segmentation fault") || contains("terminate called");
  return error ? EndedBy::kOwnError : EndedBy::kNotKnown;
}

}  // namespace

bool AddStack(std::string_view text, RankId rank, Recording& recording) {
  RankRecord* record = RecordOf(recording, rank);
  const std::vector<std::string_view> frames = MainThread(text);
  if (record == nullptr || frames.empty()) return record != nullptr;
  record->waiting_in_communication = std::any_of(frames.begin(), frames.end(), IsCommunication);
  if (HidesNative(frames) && !record->waiting_in_communication) return true;
  const auto python = std::find_if(frames.begin(), frames.end(), IsPython);
  if (python != frames.end()) record->doing = std::string(*python);
  return true;
}

bool AddOutput(std::string_view text, RankId rank, Recording& recording) {
  RankRecord* record = RecordOf(recording, rank);
  if (record == nullptr) return false;
  record->output_known = true;
  record->ended = HowItEnded(text);
  if (record->ended != EndedBy::kNotKnown) record->last_words = LastWords(text);
  return true;
}

Kind KindOf(std::string_view path, std::string_view head) {
  const std::string_view start = text::TrimStart(head);
  if (start.starts_with("{")) {
    if (text::Contains(head, "\"threads\"") && text::Contains(head, "\"pid\"")) {
      return Kind::kProcesses;
    }
    const bool sockets = text::Contains(head, "\"tcp\"") && text::Contains(head, "\"local\"");
    return sockets ? Kind::kSockets : Kind::kNone;
  }
  if (!RankOfFileName(path)) return Kind::kNone;
  if (start.starts_with("Process ") && text::Contains(head, "\nThread ")) {
    return Kind::kStack;
  }
  const std::vector<std::string_view> folders = text::Split(path, '/');
  const std::string_view folder = folders.size() < 2 ? "" : folders[folders.size() - 2];
  const bool text = head.find('\0') == std::string_view::npos;
  return text && (folder == "errors" || folder == "logs") ? Kind::kOutput : Kind::kNone;
}

RankRecord* RecordOf(Recording& recording, RankId rank) {
  auto& records = recording.view.records;
  const auto at = std::find_if(records.begin(), records.end(),
                               [&](const RankRecord& record) { return record.rank == rank; });
  return at == records.end() ? nullptr : &*at;
}

}  // namespace fathom::collector::side_files
