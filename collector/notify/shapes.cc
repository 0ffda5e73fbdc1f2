#include "collector/notify/shapes.h"

#include <string_view>
#include <utility>

#include "collector/http/json_writer.h"
#include "daemon/service/rfc3339.h"

namespace fathom::collector {
namespace {

using service::Rfc3339;

std::string_view Name(Severity severity) {
  switch (severity) {
    case Severity::kCritical:
      return "critical";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      break;
  }
  return "info";
}

void WriteLabels(const Notice& notice, JsonWriter& json) {
  for (const auto& [name, value] : notice.labels) json.Field(name, std::string_view(value));
}

void WriteLinks(const Notice& notice, JsonWriter& json) {
  if (notice.link.empty() && notice.runbook.empty()) return;
  json.Key("links").BeginArray();
  for (const auto& [href, text] :
       {std::pair(&notice.link, "verdict"), std::pair(&notice.runbook, "runbook")}) {
    if (href->empty()) continue;
    json.BeginObject().Field("href", std::string_view(*href)).Field("text", text).EndObject();
  }
  json.EndArray();
}

// Slack reads these three as markup.
std::string SlackText(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace

std::string AlertmanagerJson(const Notice& notice, WallNs now, Nanos lifetime) {
  JsonWriter json;
  json.BeginArray().BeginObject();
  json.Key("labels").BeginObject();
  json.Field("alertname", std::string_view(notice.title));
  json.Field("severity", Name(notice.severity)).Field("episode", std::string_view(notice.key));
  WriteLabels(notice, json);
  json.EndObject().Key("annotations").BeginObject();
  json.Field("summary", std::string_view(notice.summary));
  json.Field("description", std::string_view(notice.description));
  if (!notice.runbook.empty()) json.Field("runbook_url", std::string_view(notice.runbook));
  json.EndObject();
  json.Field("startsAt", std::string_view(Rfc3339(notice.began)));
  const WallNs end = notice.active() ? now + lifetime : notice.over;
  json.Field("endsAt", std::string_view(Rfc3339(end)));
  if (!notice.link.empty()) json.Field("generatorURL", std::string_view(notice.link));
  json.EndObject().EndArray();
  return json.Take();
}

std::string PagerDutyJson(const Notice& notice, const std::string& routing_key) {
  JsonWriter json;
  json.BeginObject().Field("routing_key", std::string_view(routing_key));
  json.Field("event_action", notice.active() ? "trigger" : "resolve");
  json.Field("dedup_key", std::string_view(CutText("fathom-" + notice.key, 255)));
  json.Key("payload").BeginObject();
  json.Field("summary", std::string_view(CutText(notice.summary, 1024)));
  json.Field("source", "fathom").Field("severity", Name(notice.severity));
  json.Field("timestamp", std::string_view(Rfc3339(notice.began)));
  json.Field("component", std::string_view(notice.title));
  json.Key("custom_details").BeginObject();
  WriteLabels(notice, json);
  json.Field("description", std::string_view(notice.description)).EndObject().EndObject();
  WriteLinks(notice, json);
  return json.EndObject().Take();
}

std::string SlackWords(const Notice& notice) {
  std::string text = notice.active() ? "*" : "*over:* *";
  text.append(SlackText(notice.title)).append("* ").append(SlackText(notice.summary));
  if (!notice.description.empty()) text.append("\n").append(SlackText(notice.description));
  if (!notice.link.empty()) text.append("\n<").append(SlackText(notice.link)).append("|open>");
  if (!notice.runbook.empty()) {
    text.append("\n<").append(SlackText(notice.runbook)).append("|runbook>");
  }
  return CutText(text, 3500);
}

std::string SlackJson(const Notice& notice) {
  JsonWriter json;
  json.BeginObject().Field("text", std::string_view(SlackWords(notice)));
  return json.EndObject().Take();
}

std::string PlainJson(const Notice& notice) {
  JsonWriter json;
  json.BeginObject().Field("schema", "fathom.notice.v1");
  json.Field("key", std::string_view(notice.key)).Field("title", std::string_view(notice.title));
  json.Field("severity", Name(notice.severity)).Field("active", notice.active());
  json.Field("summary", std::string_view(notice.summary));
  json.Field("description", std::string_view(notice.description));
  json.Key("labels").BeginObject();
  WriteLabels(notice, json);
  json.EndObject().Field("link", std::string_view(notice.link));
  json.Field("runbook", std::string_view(notice.runbook));
  json.Field("began", std::string_view(Rfc3339(notice.began)));
  if (!notice.active()) json.Field("over", std::string_view(Rfc3339(notice.over)));
  return json.EndObject().Take();
}

}  // namespace fathom::collector
