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
constexpr int kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5;
constexpr int kProcessPid = 1, kProcessName = 6;
constexpr int kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
}  // namespace descriptor
namespace event {
constexpr int kCategoryIids = 3, kDebugAnnotations = 4, kType = 9, kNameIid = 10, kTrackUuid = 11,
              kFlowIds = 47, kTerminatingFlowIds = 48;
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
  framed_.clear();
  PutBytes(trace::kPacket, body, framed_);
  failed_ |= std::fwrite(framed_.data(), 1, framed_.size(), file_.get()) != framed_.size();
}

void TraceWriter::Add(const Track& track) {
  std::string body, part;
  PutNumber(descriptor::kUuid, track.id, body);
  if (track.thread != 0) {
    PutNumber(descriptor::kThreadPid, static_cast<std::uint64_t>(track.process), part);
    PutNumber(descriptor::kThreadTid, static_cast<std::uint64_t>(track.thread), part);
    PutBytes(descriptor::kThreadName, track.name, part);
    PutBytes(descriptor::kThread, part, body);
  } else if (track.process != 0) {
    PutNumber(descriptor::kProcessPid, static_cast<std::uint64_t>(track.process), part);
    PutBytes(descriptor::kProcessName, track.name, part);
    PutBytes(descriptor::kProcess, part, body);
  } else {
    PutBytes(descriptor::kName, track.name, body);
  }
  if (track.parent != 0) PutNumber(descriptor::kParentUuid, track.parent, body);
  std::string out;
  PutNumber(packet::kTrustedPacketSequenceId, kSequence, out);
  PutBytes(packet::kTrackDescriptor, body, out);
  Write(out);
}

std::uint64_t TraceWriter::Intern(int field, std::string_view text) {
  auto& known = names_[field];
  const auto at = known.find(absl::string_view(text.data(), text.size()));
  if (at != known.end()) return at->second;
  const std::uint64_t id = known.size() + 1;
  known.emplace(std::string(text), id);
  std::string entry;
  PutNumber(interned::kIid, id, entry);
  PutBytes(interned::kName, text, entry);
  PutBytes(field, entry, interned_);
  return id;
}

void TraceWriter::PutSlice(const Slice& slice) {
  PutNumber(event::kCategoryIids, Intern(interned::kEventCategories, slice.category), body_);
  PutNumber(event::kNameIid, Intern(interned::kEventNames, slice.name), body_);
  for (const auto& [name, value] : slice.notes) {
    note_.clear();
    PutNumber(annotation::kNameIid, Intern(interned::kDebugAnnotationNames, name), note_);
    PutBytes(annotation::kStringValue, value, note_);
    PutBytes(event::kDebugAnnotations, note_, body_);
  }
  if (slice.flow == 0) return;
  PutFixed64(slice.flow_ends ? event::kTerminatingFlowIds : event::kFlowIds, slice.flow, body_);
}

void TraceWriter::Event(std::uint64_t type, std::uint64_t track, std::int64_t at_ns,
                        const Slice* slice) {
  interned_.clear(), body_.clear(), packet_.clear();
  PutNumber(event::kType, type, body_);
  PutNumber(event::kTrackUuid, track, body_);
  if (slice != nullptr) PutSlice(*slice);
  PutNumber(packet::kTimestamp, static_cast<std::uint64_t>(at_ns), packet_);
  PutNumber(packet::kTrustedPacketSequenceId, kSequence, packet_);
  PutNumber(packet::kSequenceFlags,
            packet::kNeedsIncrementalState | (first_ ? packet::kIncrementalStateCleared : 0),
            packet_);
  first_ = false;
  if (!interned_.empty()) PutBytes(packet::kInternedData, interned_, packet_);
  PutBytes(packet::kTrackEvent, body_, packet_);
  Write(packet_);
}

void TraceWriter::Begin(std::uint64_t track, const Slice& slice) {
  ++slices_;
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

}  // namespace fathom::collector::perfetto
