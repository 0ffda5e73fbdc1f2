#include "collector/cli/remedy/recovery_record.h"

#include <algorithm>
#include <array>

#include "collector/cli/text/text.h"

namespace fathom::cli {
namespace {

constexpr std::array<std::string_view, 11> kMarks = {
    "begun",       "intent",  "done",    "failed", "undo_intent", "undone",
    "undo_failed", "stopped", "running", "warm",   "ended"};
constexpr std::array<std::string_view, 4> kSteps = {"", "standby", "isolate", "restart"};

// The place of a word, or the size where it is none.
template <std::size_t size>
std::size_t PlaceOf(const std::array<std::string_view, size>& words, std::string_view word) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

}  // namespace

std::string_view Word(Mark mark) { return kMarks.at(static_cast<std::size_t>(mark)); }
std::string_view Word(Step step) { return kSteps.at(static_cast<std::size_t>(step)); }

std::string RecordLine(const RecoveryRecord& record) {
  Json json = {{"mark", Word(record.mark)}, {"id", record.id}, {"wall_ns", record.wall_ns}};
  if (record.step != Step::kNone) json["step"] = Word(record.step);
  if (record.attempt != 0) json["attempt"] = record.attempt;
  if (!record.text.empty()) json["text"] = Printable(record.text);
  if (!record.facts.empty()) json["facts"] = record.facts;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<RecoveryRecord> ReadRecordLine(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return absl::InvalidArgumentError("not a record");
  const std::size_t mark = PlaceOf(kMarks, TextField(json, "mark"));
  const std::size_t step = PlaceOf(kSteps, TextField(json, "step"));
  RecoveryRecord record;
  record.id = TextField(json, "id");
  if (mark == kMarks.size() || step == kSteps.size() || record.id.empty())
    return absl::InvalidArgumentError("a record of another kind");
  record.mark = static_cast<Mark>(mark);
  record.step = static_cast<Step>(step);
  record.attempt = static_cast<int>(IntField(json, "attempt"));
  record.wall_ns = IntField(json, "wall_ns");
  record.text = TextField(json, "text");
  record.facts = ObjectField(json, "facts");
  return record;
}

}  // namespace fathom::cli
