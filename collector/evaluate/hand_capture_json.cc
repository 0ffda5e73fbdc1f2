#include "collector/evaluate/hand_capture_json.h"

#include <utility>

#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

using diagnosis::CapturedStack;
using diagnosis::Detail;
using diagnosis::HotFunction;
using diagnosis::RankStacks;

constexpr std::int64_t kDefaultSeconds = 4;
constexpr std::int64_t kMaxSeconds = 30;
constexpr std::int64_t kMaxIterations = 100'000;
constexpr std::int64_t kDefaultRate = 100;
constexpr std::int64_t kMaxRate = 200;

void WriteStacks(const char* name, const std::vector<CapturedStack>& stacks, JsonWriter& json) {
  json.Key(name).BeginArray();
  for (const CapturedStack& stack : stacks) {
    json.BeginObject().Field("samples", stack.samples).Key("frames").BeginArray();
    for (const std::uint32_t at : stack.frames) json.Value(at);
    json.EndArray().EndObject();
  }
  json.EndArray();
}

void WriteAllStacks(const RankStacks& stacks, JsonWriter& json) {
  json.Key("frames").BeginArray();
  for (const auto& frame : stacks.frames) {
    json.BeginObject().Field("function", frame.function).Field("file", frame.file);
    json.Field("line", frame.line).Field("internal", frame.internal).EndObject();
  }
  json.EndArray();
  WriteStacks("stacks", stacks.stacks, json);
  WriteStacks("worker_stacks", stacks.worker_stacks, json);
  WriteStacks("beside_stacks", stacks.beside_stacks, json);
}

void WriteRank(RankId rank, const RankStacks& told, bool stacks, JsonWriter& json) {
  json.BeginObject().Field("rank", rank.value);
  json.Field("state", told.refused.empty() ? "done" : "refused").Field("reason", told.refused);
  json.Field("source", told.source).Field("seconds", told.lasted.Seconds());
  json.Field("samples", told.samples).Field("left_out", told.left_out);
  json.Field("worker_samples", told.worker_samples).Field("raw_bytes", told.raw_bytes);
  json.Key("doing").BeginObject();
  for (const auto& [name, looks] : told.doing) json.Field(name, looks);
  json.EndObject();
  if (stacks) WriteAllStacks(told, json);
  json.EndObject();
}

void WritePlace(const HotFunction& place, JsonWriter& json) {
  json.Field("function", place.function).Field("file", place.file).Field("line", place.line);
  json.Field("share", place.share).Field("peers_share", place.peers_share);
}

void WriteFunctions(const diagnosis::RankFunctions& of, JsonWriter& json) {
  const Detail& detail = of.detail;
  json.BeginObject().Field("rank", of.rank.value);
  WritePlace(detail.where, json);
  json.Field("doing", detail.doing).Field("in_workers", detail.in_workers);
  json.Field("beside", detail.beside);
  json.Field("missing", detail.missing).Field("peers", detail.peers);
  json.Key("table").BeginArray();
  for (const HotFunction& place : detail.functions) {
    json.BeginObject();
    WritePlace(place, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

const char* StateOf(const ShownCapture& shown) {
  if (shown.id == 0) return "none";
  return shown.over ? "over" : "under way";
}

}  // namespace

std::string CaptureJson(const std::string& job, const HandCapture& capture, bool stacks) {
  const ShownCapture& shown = capture.shown;
  JsonWriter json;
  json.BeginObject().Field("job", job).Field("id", shown.id).Field("state", StateOf(shown));
  json.Field("asked_unix_ns", shown.capture.at.ns);
  json.Field("first_iteration", shown.capture.first_iteration);
  json.Field("iterations", shown.capture.iterations).Field("native", shown.capture.native);
  json.Key("ranks").BeginArray();
  for (const RankId rank : shown.awaited) {
    json.BeginObject().Field("rank", rank.value).Field("state", "asked").EndObject();
  }
  for (const auto& [rank, told] : shown.capture.ranks) WriteRank(rank, told, stacks, json);
  json.EndArray().Key("functions").BeginArray();
  for (const diagnosis::RankFunctions& each : capture.functions) WriteFunctions(each, json);
  return json.EndArray().EndObject().Take();
}

absl::StatusOr<CaptureWish> ParseCapture(const Request& request, std::vector<RankId> ranks) {
  const auto seconds = request.Number("seconds", kDefaultSeconds);
  const auto iterations = request.Number("iterations", 0);
  const auto rate = request.Number("rate", kDefaultRate);
  const auto native = request.Number("native", 0);
  const auto within = [](const auto& number, std::int64_t least, std::int64_t most) {
    return number && *number >= least && *number <= most;
  };
  if (!within(seconds, 1, kMaxSeconds) || !within(iterations, 0, kMaxIterations) ||
      !within(rate, 1, kMaxRate) || !within(native, 0, 1)) {
    return absl::InvalidArgumentError(
        "seconds is a number from 1 to 30, iterations one to 100000, rate one from 1 to 200, "
        "native 0 or 1");
  }
  CaptureWish wish;
  wish.ranks = std::move(ranks);
  wish.seconds = static_cast<double>(*seconds);
  wish.iterations = *iterations;
  wish.rate = static_cast<std::uint32_t>(*rate);
  wish.native = *native != 0;
  wish.aligned = true;
  wish.workers = true;
  return wish;
}

}  // namespace fathom::collector
