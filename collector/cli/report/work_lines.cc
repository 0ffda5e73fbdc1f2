#include "collector/cli/report/work_lines.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "collector/cli/render/quantity.h"
#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::size_t kNamed = 3;
constexpr std::size_t kNameShown = 24;
constexpr double kWorthNaming = 0.01;  // of the whole
constexpr std::size_t kLabelColumns = 15;

std::string Bytes(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return absl::StrFormat("%.3g %s", bytes, kUnits[unit]);
}

double SumOf(const Json& rows, const char* field) {
  double sum = 0;
  for (const Json& row : rows) sum += NumberField(row, field);
  return sum;
}

// What a kernel is, without the return type and the arguments that C++ puts around it.
std::string ShortName(std::string name) {
  if (name.starts_with("void ")) name.erase(0, 5);
  const std::size_t end = name.find_first_of("<(");
  if (end != std::string::npos && end > 0) name.resize(end);
  return CutToWidth(name, kNameShown);
}

void Append(const std::string& item, std::string* list) {
  AppendTo(list, list->empty() ? "" : ", ", item);
}

std::string Longest(const Json& tables) {
  const double all = SumOf(ListField(tables, "kinds"), "sum_s");
  std::string out;
  std::size_t named = 0;
  for (const Json& work : ListField(tables, "work")) {
    const double sum = NumberField(work, "sum_s");
    if (sum < kWorthNaming * all || named++ == kNamed) break;
    Append(Cat(ShortName(TextField(work, "name")), " ", PercentOf(sum, all)), &out);
  }
  return out;
}

// Ops of a training thread are of one kind: there is nothing to tell apart.
std::string Kinds(const Json& tables) {
  const Json& kinds = ListField(tables, "kinds");
  if (kinds.size() < 2) return "";
  const double all = SumOf(kinds, "sum_s");
  std::string out;
  for (const Json& kind : kinds) {
    Append(Cat(TextField(kind, "kind"), " ", PercentOf(NumberField(kind, "sum_s"), all)), &out);
  }
  return out;
}

std::string Idle(const Json& ranks) {
  const double host = SumOf(ranks, "host_wait_s"), kernel = SumOf(ranks, "kernel_wait_s");
  const double other = SumOf(ranks, "other_idle_s");
  const double all = host + kernel + other;
  if (all <= 0) return "";
  return Cat("waiting for the host ", PercentOf(host, all), ", between kernels ",
             PercentOf(kernel, all), ", other ", PercentOf(other, all));
}

// A trace in whole microseconds has calls of none.
std::string Short(double seconds) { return seconds > 0 ? Seconds(seconds) : "0 us"; }

std::string Launches(const Json& ranks) {
  double count = 0, call = 0, delay = 0, queue = 0, p99 = 0;
  std::int64_t longest = 0;
  for (const Json& rank : ranks) {
    const auto launches = static_cast<double>(IntField(rank, "launches"));
    count += launches;
    call += launches * NumberField(rank, "launch_call_s");
    delay += launches * NumberField(rank, "launch_delay_s");
    queue += launches * NumberField(rank, "queue_mean");
    p99 = std::max(p99, NumberField(rank, "launch_delay_p99_s"));
    longest = std::max(longest, IntField(rank, "queue_max"));
  }
  if (count <= 0) return "";
  return Cat(static_cast<std::int64_t>(count), ", ", Short(call / count), " a call, begun after ",
             Short(delay / count), " (99 %: ", Short(p99), "), queue ",
             absl::StrFormat("%.1f", queue / count), " (at most ", longest, ")");
}

std::string Copies(const Json& copies) {
  std::string out;
  for (const Json& copy : copies) {
    const auto bytes = static_cast<double>(IntField(copy, "bytes"));
    if (bytes <= 0) continue;
    Append(Cat(ShortName(TextField(copy, "kind")), " ", Bytes(bytes), " at ",
               Bytes(NumberField(copy, "bandwidth_bytes_per_s")), "/s"),
           &out);
  }
  return out;
}

std::string PathText(const Json& segment) {
  if (TextField(segment, "segment") == "communication") return TextField(segment, "op");
  const std::string longest = TextField(segment, "longest");
  return longest.empty() ? "its own time" : CutToWidth(longest, kNameShown);
}

std::string Path(const Json& tables) {
  const double all = NumberField(tables, "path_s");
  std::string out;
  std::size_t named = 0;
  for (const Json& segment : ListField(tables, "path")) {
    const double sum = NumberField(segment, "sum_s");
    if (sum < kWorthNaming * all || named++ == kNamed) break;
    Append(
        Cat("rank ", IntField(segment, "rank"), " ", PathText(segment), " ", PercentOf(sum, all)),
        &out);
  }
  return out;
}

}  // namespace

std::string WorkLines(const Json& tables, const Terminal& terminal) {
  const Json& ranks = ListField(tables, "ranks");
  std::string out;
  const auto add = [&](std::string_view label, const std::string& text) {
    if (text.empty()) return;
    const auto columns = TextColumns(terminal);
    const std::string head = Cat("  ", label, std::string(kLabelColumns - label.size(), ' '));
    AppendTo(&out, Paint(terminal, Ink::kDim, head), CutToWidth(text, columns - head.size()), "\n");
  };
  add("kernels", Kinds(tables));
  add("longest", Longest(tables));
  add("idle streams", Idle(ranks));
  add("launches", Launches(ranks));
  add("copies", Copies(ListField(tables, "copies")));
  add("critical path", Path(tables));
  return out;
}

}  // namespace fathom::cli
