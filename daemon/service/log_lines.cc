#include "daemon/service/log_lines.h"

#include <absl/strings/str_cat.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "daemon/service/rfc3339.h"
#include "daemon/service/utf8.h"

namespace fathom::service {
namespace {

std::string_view Text(spdlog::string_view_t text) { return {text.data(), text.size()}; }

std::string Time(std::chrono::system_clock::time_point at) {
  const auto since = at.time_since_epoch();
  return Rfc3339(WallNs(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()));
}

std::string Plain(std::string_view message) {
  std::string out;
  for (const char c : message) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    c == '\n' ? out += "\n    " : out += control ? ' ' : c;
  }
  return out;
}

// A JSON string, which is a logfmt one too.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t size = 0; !text.empty(); text.remove_prefix(std::max<std::size_t>(size, 1))) {
    size = CharacterLength(text);
    const auto byte = static_cast<unsigned char>(text.front());
    char escape[8];
    if (size == 0) {
      out += '?';
    } else if (byte == '"' || byte == '\\') {
      out.append("\\").append(text.substr(0, 1));
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      std::snprintf(escape, sizeof escape, "\\u%04x", unsigned{byte});
      out += escape;
    } else {
      out.append(text.substr(0, size));
    }
  }
  return out + "\"";
}

}  // namespace

std::optional<LogLines::Format> LogLines::FormatOf(std::string_view name) {
  if (name == "text") return Format::kText;
  if (name == "logfmt") return Format::kLogfmt;
  if (name == "json") return Format::kJson;
  return std::nullopt;
}

void LogLines::SetUp(const std::string& component, const std::string& format,
                     const std::string& level) {
  spdlog::set_default_logger(spdlog::stderr_color_mt(component));
  Take(component, format, level);
}

void LogLines::Take(const std::string& component, const std::string& format,
                    const std::string& level) {
  const Format form = FormatOf(format).value_or(Format::kText);
  spdlog::set_formatter(std::make_unique<LogLines>(component, form));
  spdlog::set_level(spdlog::level::from_str(level));
}

LogLines::LogLines(std::string component, Format format)
    : component_(std::move(component)), format_(format) {}

void LogLines::format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) {
  const std::string line =
      Line(Time(event.time), Text(spdlog::level::to_string_view(event.level)), Text(event.payload));
  out.append(line.data(), line.data() + line.size());
}

std::unique_ptr<spdlog::formatter> LogLines::clone() const {
  return std::make_unique<LogLines>(component_, format_);
}

std::string LogLines::Line(const std::string& time, std::string_view level,
                           std::string_view message) const {
  if (format_ == Format::kText) {
    return time + " " + std::string(level) + " " + component_ + " " + Plain(message) + "\n";
  }
  const bool json = format_ == Format::kJson;
  std::string line = json ? "{" : "";
  const auto field = [&](const char* name, const std::string& value, bool last) {
    line += json ? std::string("\"").append(name).append("\":") : std::string(name).append("=");
    line += value;
    if (!last) line += json ? "," : " ";
  };
  field("time", json ? Quoted(time) : time, false);
  field("level", json ? Quoted(level) : std::string(level), false);
  field("component", json ? Quoted(component_) : component_, false);
  field("message", Quoted(message), true);
  return line + (json ? "}\n" : "\n");
}

absl::Status CheckLog(std::string_view level, std::string_view format) {
  constexpr std::array<std::string_view, 6> kLevels = {"trace",   "debug", "info",
                                                       "warning", "error", "off"};
  if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("log_level: '", std::string(level),
                     "' is none of trace, debug, info, warning, error, off"));
  }
  if (LogLines::FormatOf(format)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("log_format: '", std::string(format), "' is none of text, logfmt, json"));
}

}  // namespace fathom::service
