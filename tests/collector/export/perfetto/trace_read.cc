#include "tests/collector/export/perfetto/trace_read.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "perfetto_trace.pb.h"

namespace fathom::collector::perfetto {
namespace {

using ::perfetto_trace::DebugAnnotation;
using ::perfetto_trace::InternedName;
using ::perfetto_trace::Trace;
using ::perfetto_trace::TracePacket;
using ::perfetto_trace::TrackDescriptor;
using ::perfetto_trace::TrackEvent;

constexpr std::uint32_t kCleared = 1, kNeedsState = 2;

bool Unknown(const google::protobuf::Message& message) {
  return !message.GetReflection()->GetUnknownFields(message).empty();
}

class TraceReader {
 public:
  TraceRead Read(const std::string& bytes) {
    Trace trace;
    if (!trace.ParseFromString(bytes)) Wrong("no message");
    for (const TracePacket& packet : trace.packet()) Take(packet);
    for (const auto& [track, open] : open_) {
      if (!open.empty()) Wrong(absl::StrCat("a slice never ends on ", read_.tracks[track].name));
    }
    CheckTracks();
    return std::move(read_);
  }

 private:
  using Names = std::map<std::uint64_t, std::string>;

  void Wrong(std::string what) { read_.wrong.push_back(std::move(what)); }

  void Take(const TracePacket& packet) {
    if (Unknown(packet)) Wrong("a field that the schema does not know");
    if (packet.trusted_packet_sequence_id() == 0) Wrong("a packet of no sequence");
    cleared_ = cleared_ || (packet.sequence_flags() & kCleared) != 0;
    if (packet.has_interned_data()) {
      Learn(packet.interned_data().event_categories(), categories_);
      Learn(packet.interned_data().event_names(), names_);
      Learn(packet.interned_data().debug_annotation_names(), note_names_);
    }
    if (packet.has_track_descriptor()) Take(packet.track_descriptor());
    if (!packet.has_track_event()) return;
    if (!cleared_ || (packet.sequence_flags() & kNeedsState) == 0) Wrong("state of another trace");
    Take(packet.track_event(), static_cast<std::int64_t>(packet.timestamp()));
  }

  template <typename Entries>
  void Learn(const Entries& entries, Names& names) {
    for (const InternedName& entry : entries) {
      ++read_.names;
      if (entry.iid() == 0 || !names.emplace(entry.iid(), entry.name()).second) {
        Wrong(absl::StrCat("name ", entry.iid(), " twice"));
      }
    }
  }

  void Take(const TrackDescriptor& track) {
    if (Unknown(track)) Wrong("a track that the schema does not know");
    TrackRead read{track.parent_uuid(), track.name(), 0, 0};
    if (track.has_process()) {
      read = {track.parent_uuid(), track.process().process_name(), track.process().pid(), 0};
    } else if (track.has_thread()) {
      read = {track.parent_uuid(), track.thread().thread_name(), track.thread().pid(),
              track.thread().tid()};
    }
    if (track.uuid() == 0 || !read_.tracks.emplace(track.uuid(), read).second) {
      Wrong(absl::StrCat("track ", track.uuid(), " twice"));
    }
  }

  void Take(const TrackEvent& event, std::int64_t at) {
    if (Unknown(event)) Wrong("an event that the schema does not know");
    const std::uint64_t track = event.track_uuid();
    if (!read_.tracks.contains(track)) Wrong("an event before its track");
    if (at < newest_[track]) Wrong(absl::StrCat("time runs back on ", read_.tracks[track].name));
    newest_[track] = at;
    if (event.type() == TrackEvent::TYPE_SLICE_END) return End(track, at);
    SliceRead slice;
    slice.track = read_.tracks[track].name;
    slice.track_id = track;
    slice.begin = slice.end = at;
    slice.name = Known(names_, event.name_iid());
    if (event.category_iids_size() == 1)
      slice.category = Known(categories_, event.category_iids(0));
    for (const DebugAnnotation& note : event.debug_annotations()) {
      slice.notes.emplace_back(Known(note_names_, note.name_iid()), note.string_value());
    }
    slice.flows.assign(event.flow_ids().begin(), event.flow_ids().end());
    slice.ended_flows.assign(event.terminating_flow_ids().begin(),
                             event.terminating_flow_ids().end());
    if (event.type() == TrackEvent::TYPE_INSTANT) return read_.instants.push_back(slice);
    if (event.type() != TrackEvent::TYPE_SLICE_BEGIN) Wrong("an event of no type");
    open_[track].push_back(read_.slices.size());
    read_.slices.push_back(slice);
  }

  void End(std::uint64_t track, std::int64_t at) {
    auto& open = open_[track];
    if (open.empty()) return Wrong("an end without a begin");
    read_.slices[open.back()].end = at;
    open.pop_back();
  }

  const std::string& Known(const Names& names, std::uint64_t id) {
    static const std::string kNone;
    const auto at = names.find(id);
    if (at != names.end()) return at->second;
    Wrong(absl::StrCat("name ", id, " before it is told"));
    return kNone;
  }

  void CheckTracks() {
    std::set<std::int32_t> processes, threads;
    for (const auto& [id, track] : read_.tracks) {
      if (track.parent != 0 && !read_.tracks.contains(track.parent)) Wrong("a parent is missing");
      if (track.process == 0 || track.thread != 0) continue;
      if (!processes.insert(track.process).second) Wrong("a process twice");
    }
    for (const auto& [id, track] : read_.tracks) {
      if (track.thread == 0) continue;
      if (!processes.contains(track.process)) Wrong("a thread of no process");
      if (!threads.insert(track.thread).second) Wrong("a thread twice");
    }
  }

  TraceRead read_;
  Names names_, categories_, note_names_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
  std::map<std::uint64_t, std::int64_t> newest_;
  bool cleared_ = false;
};

}  // namespace

std::vector<SliceRead> TraceRead::On(std::string_view track) const {
  std::vector<SliceRead> found;
  std::copy_if(slices.begin(), slices.end(), std::back_inserter(found),
               [track](const SliceRead& slice) { return slice.track == track; });
  return found;
}

std::vector<std::uint64_t> TraceRead::Named(std::string_view track) const {
  std::vector<std::uint64_t> found;
  for (const auto& [id, read] : tracks) {
    if (read.name == track) found.push_back(id);
  }
  return found;
}

TraceRead ReadTrace(const std::string& bytes) { return TraceReader().Read(bytes); }

}  // namespace fathom::collector::perfetto
