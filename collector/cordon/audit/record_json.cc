#include "collector/cordon/audit/record_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "collector/http/json_writer.h"

namespace fathom::cordon {
namespace {

constexpr std::pair<const char*, std::string Record::*> kTexts[] = {
    {"action", &Record::action}, {"node", &Record::node},         {"entity", &Record::entity},
    {"cause", &Record::cause},   {"episode", &Record::episode},   {"job", &Record::job},
    {"mode", &Record::mode},     {"actor", &Record::actor},       {"text", &Record::text},
    {"before", &Record::before}, {"evidence", &Record::evidence}, {"after", &Record::after},
};

}  // namespace

std::string WriteRecord(const Record& record, const Link& link) {
  collector::JsonWriter json;
  json.BeginObject().Field("seq", link.sequence).Field("prev", std::string_view(link.previous));
  json.Field("kind", ToString(record.kind)).Field("time_unix_ns", record.time.ns);
  for (const auto& [name, member] : kTexts) {
    const std::string& text = record.*member;
    if (!text.empty()) json.Field(name, std::string_view(text));
  }
  json.EndObject();
  return json.Take();
}

absl::Status ReadRecord(std::string_view text, Record& record, Link& link) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto bad = [](const char* why) { return absl::InvalidArgumentError(why); };
  if (!json.is_object()) return bad("not a JSON object");
  const auto sequence = json.find("seq"), previous = json.find("prev");
  const auto kind = json.find("kind"), time = json.find("time_unix_ns");
  if (sequence == json.end() || !sequence->is_number_unsigned()) return bad("no seq");
  if (previous == json.end() || !previous->is_string()) return bad("no prev");
  if (time == json.end() || !time->is_number_integer()) return bad("no time_unix_ns");
  if (kind == json.end() || !kind->is_string() ||
      !ParseRecordKind(kind->get_ref<const std::string&>(), record.kind)) {
    return bad("no known kind");
  }
  link.sequence = sequence->get<std::uint64_t>();
  link.previous = previous->get<std::string>();
  record.time = WallNs(time->get<std::int64_t>());
  for (const auto& [name, member] : kTexts) {
    const auto at = json.find(name);
    record.*member = at != json.end() && at->is_string() ? at->get<std::string>() : "";
  }
  return absl::OkStatus();
}

}  // namespace fathom::cordon
