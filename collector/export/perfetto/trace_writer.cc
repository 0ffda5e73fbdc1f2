#include "collector/export/perfetto/trace_writer.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace fathom::collector::perfetto {
namespace {

// Field numbers of Perfetto's messages, named as there.
namespace trace {
constexpr int kPacket = 1;
}
namespace packet {
constexpr int kTimestamp = 8, kTrustedPacketSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
              kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kIncrementalStateCleared = 1, kNeedsIncrementalState = 2;
}  // namespace packet
namespace descriptor {
constexpr int kUuid = 1, kName = 2, kProcess = 3, kParentUuid = 5;
constexpr int kProcessPid = 1, kProcessName = 6;
}  // namespace descriptor
namespace event {
constexpr int kCategoryIids = 3, kDebugAnnotations = 4, kType = 9, kNameIid = 10, kTrackUuid = 11,
              kFlowIds = 47;
constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3;
}  // namespace event
namespace interned {
constexpr int kEventCategories = 1, kEventNames = 2, kDebugAnnotationNames = 3;
constexpr int kIid = 1, kName = 2;
}  // namespace interned
namespace annotation {
constexpr int kNameIid = 1, kStringValue = 6;
}

constexpr std::uint64_t kSequence = 1;

void PutVarint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void PutNumber(int field, std::uint64_t value, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(field) << 3, out);
  PutVarint(value, out);
}

void PutBytes(int field, std::string_view bytes, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(field) << 3 | 2, out);
  PutVarint(bytes.size(), out);
  out.append(bytes);
}

void PutFixed64(int field, std::uint64_t value, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(field) << 3 | 1, out);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) {
    return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  return Into(file, path);
}

std::unique_ptr<TraceWriter> TraceWriter::Into(std::FILE* stream, const std::string& name) {
  return std::unique_ptr<TraceWriter>(new TraceWriter(name, stream));
}

void TraceWriter::Write(const std::string& body) {
  std::string framed;
  PutBytes(trace::kPacket, body, framed);
  failed_ |= std::fwrite(framed.data(), 1, framed.size(), file_.get()) != framed.size();
}

void TraceWriter::Add(const Track& track) {
  std::string body;
  PutNumber(descriptor::kUuid, track.id, body);
  if (track.process != 0) {
    std::string process;
    PutNumber(descriptor::kProcessPid, static_cast<std::uint64_t>(track.process), process);
    PutBytes(descriptor::kProcessName, track.name, process);
    PutBytes(descriptor::kProcess, process, body);
  } else {
    PutBytes(descriptor::kName, track.name, body);
  }
  if (track.parent != 0) PutNumber(descriptor::kParentUuid, track.parent, body);
  std::string out;
  PutNumber(packet::kTrustedPacketSequenceId, kSequence, out);
  PutBytes(packet::kTrackDescriptor, body, out);
  Write(out);
}

std::uint64_t TraceWriter::Intern(int field, std::string_view text, std::string& interned) {
  auto& known = names_[field];
  const auto [at, added] = known.try_emplace(std::string(text), known.size() + 1);
  if (added) {
    std::string entry;
    PutNumber(interned::kIid, at->second, entry);
    PutBytes(interned::kName, text, entry);
    PutBytes(field, entry, interned);
  }
  return at->second;
}

void TraceWriter::Event(std::uint64_t type, std::uint64_t track, std::int64_t at_ns,
                        const Slice* slice) {
  std::string names, body, out;
  PutNumber(event::kType, type, body);
  PutNumber(event::kTrackUuid, track, body);
  if (slice != nullptr) {
    const std::uint64_t category = Intern(interned::kEventCategories, slice->category, names);
    PutNumber(event::kCategoryIids, category, body);
    PutNumber(event::kNameIid, Intern(interned::kEventNames, slice->name, names), body);
    for (const auto& [name, value] : slice->notes) {
      std::string note;
      const std::uint64_t key = Intern(interned::kDebugAnnotationNames, name, names);
      PutNumber(annotation::kNameIid, key, note);
      PutBytes(annotation::kStringValue, value, note);
      PutBytes(event::kDebugAnnotations, note, body);
    }
    if (slice->flow != 0) PutFixed64(event::kFlowIds, slice->flow, body);
  }
  PutNumber(packet::kTimestamp, static_cast<std::uint64_t>(at_ns), out);
  PutNumber(packet::kTrustedPacketSequenceId, kSequence, out);
  PutNumber(packet::kSequenceFlags,
            packet::kNeedsIncrementalState | (first_ ? packet::kIncrementalStateCleared : 0), out);
  first_ = false;
  if (!names.empty()) PutBytes(packet::kInternedData, names, out);
  PutBytes(packet::kTrackEvent, body, out);
  Write(out);
}

void TraceWriter::Begin(std::uint64_t track, const Slice& slice) {
  Event(event::kSliceBegin, track, slice.begin_ns, &slice);
}

void TraceWriter::End(std::uint64_t track, std::int64_t at_ns) {
  Event(event::kSliceEnd, track, at_ns, nullptr);
}

void TraceWriter::Instant(std::uint64_t track, const Slice& slice) {
  Event(event::kInstant, track, slice.begin_ns, &slice);
}

absl::Status TraceWriter::Close() {
  const bool closed = std::fclose(file_.release()) == 0;
  if (failed_ || !closed) {
    return absl::UnavailableError(absl::StrCat(path_, ": could not be written to its end"));
  }
  return absl::OkStatus();
}

bool Lanes::Fits(std::size_t lane, const Slice& slice) {
  auto& open = open_[lane];
  while (!open.empty() && open.back() <= slice.begin_ns) {
    writer_.End(base_ + lane, open.back());
    open.pop_back();
  }
  return open.empty() || open.back() >= slice.end_ns;
}

void Lanes::Put(const Slice& slice) {
  std::size_t lane = 0;
  while (lane < open_.size() && !Fits(lane, slice)) ++lane;
  if (lane >= kMostLanes) {
    ++left_out_;
    return;
  }
  if (lane == open_.size()) {
    open_.emplace_back();
    writer_.Add({.id = base_ + lane, .parent = parent_, .name = name_});
  }
  writer_.Begin(base_ + lane, slice);
  open_[lane].push_back(slice.end_ns);
}

void Lanes::Finish() {
  for (std::size_t lane = 0; lane < open_.size(); ++lane) {
    for (auto end = open_[lane].rbegin(); end != open_[lane].rend(); ++end) {
      writer_.End(base_ + lane, *end);
    }
    open_[lane].clear();
  }
}

}  // namespace fathom::collector::perfetto
