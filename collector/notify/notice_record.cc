#include "collector/notify/notice_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace fathom::collector {
namespace {

using Json = nlohmann::json;

std::string Text(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

std::int64_t Number(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

}  // namespace

std::string WriteNotice(const Notice& notice) {
  const Json json = {{"key", notice.key},         {"title", notice.title},
                     {"matter", notice.matter},   {"severity", static_cast<int>(notice.severity)},
                     {"summary", notice.summary}, {"description", notice.description},
                     {"labels", notice.labels},   {"link", notice.link},
                     {"runbook", notice.runbook}, {"thread", notice.thread},
                     {"began", notice.began.ns},  {"over", notice.over.ns}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Notice> ReadNotice(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  Notice notice;
  notice.key = Text(json, "key");
  notice.title = Text(json, "title");
  notice.matter = Text(json, "matter");
  notice.severity = static_cast<Severity>(std::clamp<std::int64_t>(Number(json, "severity"), 0, 2));
  notice.summary = Text(json, "summary");
  notice.description = Text(json, "description");
  notice.link = Text(json, "link");
  notice.runbook = Text(json, "runbook");
  notice.thread = Text(json, "thread");
  notice.began = WallNs(Number(json, "began"));
  notice.over = WallNs(Number(json, "over"));
  if (const auto labels = json.find("labels"); labels != json.end() && labels->is_object()) {
    for (const auto& [name, value] : labels->items()) {
      if (value.is_string()) notice.labels[name] = value.get<std::string>();
    }
  }
  if (notice.key.empty() || notice.title.empty()) return std::nullopt;
  return notice;
}

}  // namespace fathom::collector
