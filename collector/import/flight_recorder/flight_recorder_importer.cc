#include "collector/import/flight_recorder/flight_recorder_importer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "collector/import/flight_recorder/beside.h"
#include "collector/import/flight_recorder/dump.h"
#include "collector/import/flight_recorder/dump_set.h"
#include "collector/import/flight_recorder/one_job.h"
#include "collector/import/reading/input_file.h"
#include "collector/import/reading/rank_name.h"

namespace fathom::collector {
namespace {

using diagnosis::EnteredOp;
using diagnosis::RankRecord;
using diagnosis::RecordExtent;
using flight_recorder::Dump;
using flight_recorder::DumpEntry;
using flight_recorder::DumpSet;
using flight_recorder::JobGroup;
using flight_recorder::Keep;
using flight_recorder::Source;

absl::StatusOr<Dump> ReadFile(const std::string& path, const ImportLimits& limits) {
  bool cut = false;
  auto bytes = ReadWhole(path, limits, &cut);
  if (!bytes.ok()) return bytes.status();
  auto dump = flight_recorder::ReadDump(std::move(*bytes));
  if (dump.ok() && cut) {
    dump->cut = true;
    dump->notes.push_back("the zipped file ends early");
  }
  return dump;
}

absl::Status ReadAll(const std::vector<std::string>& paths, const ImportLimits& limits,
                     Recording& recording, std::map<RankId, Source>& sources) {
  for (const std::string& path : paths) {
    const auto rank = RankOfFileName(path);
    if (!rank || rank->value >= limits.ranks) {
      recording.notes.push_back(path + ": skipped, its name does not end in the number of a rank");
      TellLeftOut(path, "its name does not end in the number of a rank", recording);
      continue;
    }
    auto dump = ReadFile(path, limits);
    if (!dump.ok()) {
      recording.notes.push_back(absl::StrCat(path, ": skipped: ", dump.status().message()));
      TellLeftOut(path, std::string(dump.status().message()), recording);
      continue;
    }
    for (const std::string& note : dump->notes) recording.notes.push_back(path + ": " + note);
    if (dump->entries_skipped > 0) {
      recording.notes.push_back(
          absl::StrFormat("%s: %d entries skipped, no group or op", path, dump->entries_skipped));
    }
    const absl::Status kept = Keep(*rank, {path, std::move(*dump)}, paths, sources, recording);
    if (!kept.ok()) return kept;
  }
  return absl::OkStatus();
}

// Calls in which every member must pass tensors of one size: the variants that take lists may be
// uneven, and others differ by right.
bool SameSizeOnAll(const DumpEntry& entry) {
  switch (entry.kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduce:
    case CollectiveKind::kBroadcast:
      return true;
    default:
      return entry.profiling_name.ends_with("_reduce_scatter_base") ||
             entry.profiling_name.ends_with("_all_gather_base") ||
             entry.profiling_name.ends_with("_allgather_base");
  }
}

RecordExtent ExtentOf(const Dump& dump) {
  if (dump.entries.empty()) {
    return dump.left_out ? RecordExtent::kOpenOnly : RecordExtent::kEmpty;
  }
  const bool finished = std::any_of(dump.entries.begin(), dump.entries.end(),
                                    [](const DumpEntry& entry) { return !entry.open; });
  return finished || dump.entries.front().record_id == 0 ? RecordExtent::kHistory
                                                         : RecordExtent::kOpenOnly;
}

RankId PeerOf(RankId self, const DumpEntry& entry, const JobGroup& group) {
  if (!entry.p2p_src || !entry.p2p_dst) return kNoRank;
  const std::uint32_t other = entry.kind == CollectiveKind::kRecv ? *entry.p2p_src : *entry.p2p_dst;
  if (other >= group.members.size()) return kNoRank;
  return group.members[other] == self ? kNoRank : group.members[other];
}

EnteredOp OpOf(RankId self, const DumpEntry& entry, const std::string& name,
               const JobGroup& group) {
  EnteredOp op;
  op.group = GroupIdOfName(name);
  op.kind = entry.kind;
  op.data_type = entry.data_type;
  op.elements = entry.elements;
  op.output_elements = entry.output_elements;
  op.even = SameSizeOnAll(entry);
  op.site = entry.site;
  op.created = WallNs(entry.created_ns);
  op.open = entry.open;
  op.started = entry.started;
  op.completed = entry.completed;
  if (entry.is_p2p) {
    op.peer = PeerOf(self, entry, group);
  } else if (entry.collective_seq && *entry.collective_seq > 0) {
    op.sequence = Sequence(static_cast<std::uint64_t>(*entry.collective_seq) - 1);
  }
  return op;
}

RankRecord& RecordOf(Recording& recording, RankId rank) {
  auto& records = recording.view.records;
  auto at = std::lower_bound(records.begin(), records.end(), rank,
                             [](const RankRecord& record, RankId r) { return record.rank < r; });
  if (at == records.end() || at->rank != rank) {
    at = records.insert(at, RankRecord{});
    at->rank = rank;
  }
  return *at;
}

void AddGroups(const DumpSet& set, Recording& recording) {
  for (const auto& [name, from] : set.groups()) {
    diagnosis::Group& group = GroupOf(recording, name);
    Describe(from.description, group);
    if (!group.members.empty() && !group.guessed) continue;  // another source knew better
    group.members = from.members;
    group.size = static_cast<std::uint32_t>(from.members.size());
    group.guessed = from.guessed;
  }
}

void AddRank(const DumpSet& set, RankId rank, const Dump& dump, Recording& recording) {
  RankRecord record;
  for (const DumpEntry& entry : dump.entries) {
    const std::string name = set.NameOf(rank, entry);
    if (name.empty()) continue;
    record.ops.push_back(OpOf(rank, entry, name, set.groups().at(name)));
  }
  RankRecord& to = RecordOf(recording, rank);
  to.ops = std::move(record.ops);
  to.extent = ExtentOf(dump);
  to.cut = dump.cut;
  to.from_start = dump.from_start;
  diagnosis::RankFacts& facts = FactsOf(recording, rank);
  for (const auto& [name, progress] : set.ProgressOf(rank)) {
    facts.groups.push_back(
        {GroupIdOfName(name), progress.entered, progress.completed, progress.completed});
  }
}

void AddSignals(const DumpSet& set, Recording& recording) {
  const bool all = set.missing().empty();
  const bool open_only =
      std::none_of(recording.view.records.begin(), recording.view.records.end(),
                   [](const RankRecord& r) { return r.extent == RecordExtent::kHistory; });
  using Level = diagnosis::SignalState::Level;
  recording.view.signals.push_back(
      {"flight recorder", all && !open_only ? Level::kOn : Level::kPartly,
       open_only ? "only ops that were open: no order of entry, no mismatch in what ended"
       : all     ? "times: the recorder notes when an op was noticed, not how long it took"
                 : "what the ranks without a dump had entered"});
  if (set.hides_point_to_point()) {
    recording.view.signals.push_back(
        {"point-to-point ops", Level::kOff,
         "sends and receives: Gloo counts them but does not list them"});
  }
  if (set.contradicts()) {
    recording.view.signals.push_back({"members of groups", Level::kPartly,
                                      "who is in a group of which the dumps tell other members"});
  }
}

}  // namespace

bool FlightRecorderImporter::Recognises(std::string_view, std::string_view head) const {
  return flight_recorder::LooksLikeDump(head);
}

absl::Status FlightRecorderImporter::Read(const std::vector<std::string>& paths,
                                          const ImportLimits& limits, Recording& recording) const {
  std::map<RankId, Source> sources;
  if (absl::Status read = ReadAll(paths, limits, recording, sources); !read.ok()) return read;
  if (sources.empty()) {
    return absl::InvalidArgumentError(recording.notes.empty()
                                          ? "no Flight Recorder dump among the files"
                                          : recording.notes.back());
  }
  const absl::Status one = flight_recorder::KeepOneRun(sources, recording);
  if (!one.ok()) return one;
  std::map<RankId, Dump> dumps;
  for (auto& [rank, source] : sources) {
    recording.view.now = std::max(recording.view.now, WallNs(flight_recorder::Newest(source.dump)));
    dumps.emplace(rank, std::move(source.dump));
  }
  flight_recorder::LeaveOutBeside(dumps, recording.notes);
  const DumpSet set(std::move(dumps));
  recording.notes.insert(recording.notes.end(), set.notes().begin(), set.notes().end());
  recording.view.world_size = std::max(recording.view.world_size, set.world_size());
  AddGroups(set, recording);
  for (const auto& [rank, dump] : set.dumps()) AddRank(set, rank, dump, recording);
  for (const RankId rank : set.missing()) {
    RecordOf(recording, rank);
    recording.notes.push_back(absl::StrFormat("no dump of rank %d", rank.value));
  }
  recording.ranks_missing = set.missing();
  AddSignals(set, recording);
  return absl::OkStatus();
}

}  // namespace fathom::collector
