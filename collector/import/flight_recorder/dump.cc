#include "collector/import/flight_recorder/dump.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "collector/import/flight_recorder/batches.h"
#include "collector/import/flight_recorder/beside.h"
#include "collector/import/flight_recorder/call_site.h"
#include "collector/import/flight_recorder/json_reader.h"
#include "collector/import/flight_recorder/unpickler.h"
#include "collector/import/flight_recorder/value.h"
#include "collector/import/reading/text.h"

namespace fathom::collector::flight_recorder {
namespace {

constexpr std::size_t kMaxGroupRanks = 1 << 20;
constexpr std::size_t kMaxDimensions = 64;
constexpr std::size_t kMaxTensors = 1 << 16;

std::optional<std::int64_t> IntegerAt(const Value& dict, std::string_view key) {
  const Value* value = dict.Find(key);
  return value == nullptr ? std::nullopt : value->Integer();
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

// PyTorch writes the numbers of `pg_status` as text into JSON, and as numbers into pickles.
std::int64_t CountAt(const Value& dict, std::string_view key) {
  const Value* value = dict.Find(key);
  if (value == nullptr) return -1;
  const auto text = value->Text();
  return (text ? ParseNumber<std::int64_t>(*text) : value->Integer()).value_or(-1);
}

std::string TextAt(const Value& dict, std::string_view key) {
  const Value* value = dict.Find(key);
  return value == nullptr ? std::string() : std::string(value->Text().value_or(""));
}

bool TrueAt(const Value& dict, std::string_view key) {
  const Value* value = dict.Find(key);
  return value != nullptr && value->Bool().value_or(false);
}

// "[0, 1, 2]". PyTorch writes the list as text; anything else gives nothing.
std::vector<std::uint32_t> ParseRanks(std::string_view text) {
  std::vector<std::uint32_t> ranks;
  text = text::Trim(text);
  if (text.starts_with("[") && text.ends_with("]")) text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto rank = ParseNumber<std::uint32_t>(text::Trim(text.substr(0, comma)));
    if (!rank || ranks.size() >= kMaxGroupRanks) return {};
    ranks.push_back(*rank);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ranks;
}

// "nccl:send 0->1", "nccl:recv 1<-0": numbers of source and destination within the group.
void ParseEnds(std::string_view name, DumpEntry& entry) {
  const std::size_t space = name.rfind(' ');
  if (space == std::string_view::npos) return;
  const std::string_view ends = name.substr(space + 1);
  const std::size_t arrow = std::min(ends.find("->"), ends.find("<-"));
  if (arrow == std::string_view::npos) return;
  const auto left = ParseNumber<std::uint32_t>(ends.substr(0, arrow));
  const auto right = ParseNumber<std::uint32_t>(ends.substr(arrow + 2));
  if (!left || !right) return;
  const bool forward = ends[arrow] == '-';
  entry.p2p_src = forward ? left : right;
  entry.p2p_dst = forward ? right : left;
}

// Elements of all tensors of a list of sizes; saturates.
std::uint64_t CountElements(const Value* sizes) {
  if (sizes == nullptr) return 0;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t total = 0;
  const auto& tensors = sizes->Items();
  for (std::size_t t = 0; t < std::min(tensors.size(), kMaxTensors); ++t) {
    const auto& dimensions = tensors[t]->Items();
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < std::min(dimensions.size(), kMaxDimensions); ++d) {
      const std::int64_t n = std::max<std::int64_t>(dimensions[d]->Integer().value_or(0), 0);
      if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(n), &count)) return kMost;
    }
    if (__builtin_add_overflow(total, count, &total)) return kMost;
  }
  return total;
}

DataType FirstType(const Value* types) {
  if (types == nullptr || types->Items().empty()) return DataType::kUnknown;
  return DataTypeOfTorchName(types->Items().front()->Text().value_or(""));
}

bool IsOpen(const Value& entry) {
  const Value* retired = entry.Find("retired");
  const bool completed = TextAt(entry, "state") == "completed";
  // Formats without `retired` tell only by state.
  if (retired == nullptr) return !completed;
  return !retired->Bool().value_or(false) && !completed;
}

void ReadGroupOf(const Value& entry, DumpEntry& to) {
  const Value* group = entry.Find("process_group");
  if (group == nullptr || group->Items().size() < 2) return;
  to.group_name = std::string(group->Items()[0]->Text().value_or(""));
  to.description = std::string(group->Items()[1]->Text().value_or(""));
}

std::optional<DumpEntry> ReadEntry(const Value& from) {
  DumpEntry entry;
  entry.profiling_name = TextAt(from, "profiling_name");
  ReadGroupOf(from, entry);
  entry.pg_id = IntegerAt(from, "pg_id").value_or(-1);
  if (entry.profiling_name.empty() || (entry.group_name.empty() && entry.pg_id < 0)) {
    return std::nullopt;
  }
  entry.record_id = IntegerAt(from, "record_id").value_or(0);
  entry.collective_seq = IntegerAt(from, "collective_seq_id");
  if (!entry.collective_seq) entry.collective_seq = IntegerAt(from, "seq_id");
  entry.p2p_seq = IntegerAt(from, "p2p_seq_id");
  entry.op_id = IntegerAt(from, "op_id");
  entry.kind = KindOfProfilingName(entry.profiling_name);
  entry.is_p2p = TrueAt(from, "is_p2p") || IsPointToPoint(entry.kind);
  entry.closes_batch = entry.profiling_name.ends_with(":coalesced");
  if (entry.is_p2p) ParseEnds(entry.profiling_name, entry);
  entry.elements = CountElements(from.Find("input_sizes"));
  entry.output_elements = CountElements(from.Find("output_sizes"));
  entry.from_thread = IsFromThread(from.Find("frames"));
  entry.site = CallSite(from.Find("frames"));
  entry.data_type = FirstType(from.Find("input_dtypes"));
  entry.created_ns = std::max<std::int64_t>(IntegerAt(from, "time_created_ns").value_or(0), 0);
  entry.timeout_ms = IntegerAt(from, "timeout_ms").value_or(0);
  entry.open = IsOpen(from);
  const std::string state = TextAt(from, "state");
  entry.completed = state == "completed";
  // In JSON a time that is not known is 0.
  entry.started =
      state == "started" || IntegerAt(from, "time_discovered_started_ns").value_or(0) > 0;
  entry.updated = !entry.open || entry.started;
  return entry;
}

void ReadGroups(const Value* config, Dump& dump) {
  if (config == nullptr || config->kind != ValueKind::kDict) return;
  for (std::size_t i = 0; i + 1 < config->items.size(); i += 2) {
    const Value& from = *config->items[i + 1];
    DumpGroup group{TextAt(from, "name"), TextAt(from, "desc"), ParseRanks(TextAt(from, "ranks"))};
    if (group.name.empty()) group.name = std::string(config->items[i]->Text().value_or(""));
    dump.groups.push_back(std::move(group));
  }
}

void ReadStatus(const Value* status, Dump& dump) {
  if (status == nullptr || status->kind != ValueKind::kDict) return;
  for (std::size_t i = 0; i + 1 < status->items.size(); i += 2) {
    const Value& key = *status->items[i];
    const auto id = key.kind == ValueKind::kInteger
                        ? key.Integer()
                        : ParseNumber<std::int64_t>(key.Text().value_or(""));
    if (!id) continue;
    const Value& from = *status->items[i + 1];
    dump.status.push_back({*id, CountAt(from, "last_enqueued_collective"),
                           CountAt(from, "last_completed_collective")});
  }
}

void ReadEntries(const Value* entries, Dump& dump) {
  if (entries == nullptr) return;
  dump.entries.reserve(entries->Items().size());
  for (const Value* item : entries->Items()) {
    auto entry = ReadEntry(*item);
    if (!entry) {
      ++dump.entries_skipped;
      continue;
    }
    dump.gloo = dump.gloo || entry->profiling_name.starts_with("gloo:");
    dump.entries.push_back(std::move(*entry));
  }
  std::stable_sort(dump.entries.begin(), dump.entries.end(),
                   [](const auto& a, const auto& b) { return a.record_id < b.record_id; });
}

// The ring was never full, and nothing was left out.
bool AllSinceStart(const Dump& dump) {
  if (dump.entries.empty() || dump.entries_skipped > 0 || dump.cut) return false;
  const auto count = static_cast<std::int64_t>(dump.entries.size());
  return dump.entries.front().record_id == 0 && dump.entries.back().record_id + 1 == count;
}

// A group that was torn down and built again counts from the beginning: of its former life nothing
// can be compared with members that no longer remember it.
void DropFormerLives(Dump& dump) {
  struct Life {
    std::int64_t newest = 0;
    std::size_t begin = 0;  // index of its first entry
  };
  std::map<std::string, Life> lives;
  const auto name_of = [](const DumpEntry& entry) {
    return entry.group_name.empty() ? absl::StrFormat("#%d", entry.pg_id) : entry.group_name;
  };
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    const DumpEntry& entry = dump.entries[i];
    if (entry.is_p2p || !entry.collective_seq) continue;
    Life& life = lives[name_of(entry)];
    if (*entry.collective_seq < life.newest) life.begin = i;
    life.newest = *entry.collective_seq;
  }
  std::vector<DumpEntry> kept;
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    const auto life = lives.find(name_of(dump.entries[i]));
    if (life == lives.end() || i >= life->second.begin) kept.push_back(std::move(dump.entries[i]));
  }
  dump.entries = std::move(kept);
  for (const auto& [name, life] : lives) {
    if (life.begin == 0) continue;
    dump.from_start = false;
    dump.notes.push_back(
        absl::StrFormat("group %s was built again; its ops before that are left out", name));
  }
}

absl::Status ReadTree(Document& document, Dump& dump) {
  if (LooksLikePickle(document.bytes())) {
    const auto read = Unpickle(document);
    if (!read.ok()) return read.status();
    dump.cut = read->cut_at.has_value();
    if (read->cut_at) {
      dump.notes.push_back(
          absl::StrFormat("ends early at offset %d; read up to there", *read->cut_at));
    }
    return absl::OkStatus();
  }
  const auto broke = ReadJson(document);
  if (!broke.ok()) return broke.status();
  dump.cut = broke->has_value();
  if (*broke) {
    dump.notes.push_back(absl::StrFormat("broken at offset %d; read up to there", **broke));
  }
  return absl::OkStatus();
}

}  // namespace

CollectiveKind KindOfProfilingName(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  name = name.substr(0, name.find(' '));
  std::string plain;  // "_all_gather_base", "allgather", "ALLGATHER" are one
  for (const char c : name) {
    if (c != '_') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  constexpr std::pair<std::string_view, CollectiveKind> kNames[] = {
      {"barrier", CollectiveKind::kBarrier},
      {"reducescatter", CollectiveKind::kReduceScatter},
      {"allreduce", CollectiveKind::kAllReduce},
      {"allgather", CollectiveKind::kAllGather},
      {"alltoall", CollectiveKind::kAllToAll},
      {"broadcast", CollectiveKind::kBroadcast},
      {"reduce", CollectiveKind::kReduce},
      {"gather", CollectiveKind::kGather},
      {"scatter", CollectiveKind::kScatter},
      {"send", CollectiveKind::kSend},
      {"recv", CollectiveKind::kRecv}};
  for (const auto& [part, kind] : kNames) {
    if (text::Contains(plain, part)) return kind;
  }
  return CollectiveKind::kUnknown;
}

DataType DataTypeOfTorchName(std::string_view name) {
  constexpr std::pair<std::string_view, DataType> kNames[] = {
      {"Float", DataType::kFloat32},
      {"BFloat16", DataType::kBFloat16},
      {"Half", DataType::kFloat16},
      {"Double", DataType::kFloat64},
      {"Long", DataType::kInt64},
      {"Int", DataType::kInt32},
      {"Byte", DataType::kUint8},
      {"Char", DataType::kInt8},
      {"Bool", DataType::kUint8},
      {"UInt32", DataType::kUint32},
      {"UInt64", DataType::kUint64},
      {"Float8_e4m3fn", DataType::kFloat8E4M3},
      {"Float8_e5m2", DataType::kFloat8E5M2}};
  for (const auto& [torch, type] : kNames) {
    if (name == torch) return type;
  }
  return DataType::kUnknown;
}

bool LooksLikeDump(std::string_view head) {
  const std::string_view start = text::TrimStart(head);
  const bool json = start.starts_with("{") && !text::Contains(start, "\"traceEvents\"");
  if (!LooksLikePickle(head) && !json) return false;
  // The order of the keys differs between writers; these are in every format from 2.3.
  int known = 0;
  for (const std::string_view key : {"pg_config", "pg_status", "entries", "comm_lib_version",
                                     "nccl_version", "profiling_name", "nccl_comm_state"}) {
    known += text::Contains(head, key) ? 1 : 0;
  }
  return known >= 2 || (known == 1 && LooksLikePickle(head));
}

absl::StatusOr<Dump> ReadDump(std::string bytes) {
  Document document(std::move(bytes));
  Dump dump;
  if (absl::Status read = ReadTree(document, dump); !read.ok()) return read;
  const Value* root = document.root();
  if (root == nullptr || root->kind != ValueKind::kDict) {
    return absl::InvalidArgumentError("offset 0: no dict, so no Flight Recorder dump");
  }
  if (root->Find("entries") == nullptr && root->Find("pg_status") == nullptr &&
      root->Find("pg_config") == nullptr) {
    return absl::InvalidArgumentError("offset 0: none of entries, pg_status, pg_config is in it");
  }
  dump.version = TextAt(*root, "version");
  ReadGroups(root->Find("pg_config"), dump);
  ReadStatus(root->Find("pg_status"), dump);
  ReadEntries(root->Find("entries"), dump);
  dump.from_start = AllSinceStart(dump);
  SettleBatches(dump);
  DropFormerLives(dump);
  return dump;
}

}  // namespace fathom::collector::flight_recorder
