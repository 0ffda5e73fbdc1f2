// The lines that a daemon logs: as text for people, logfmt or JSON for what collects logs.
//
// Used by the mains of fathomd, fathom-collector and fathom-cordon. Header only.
//
// Model: one line an event, whatever is in its message: line ends and other control characters are
// escaped in logfmt and JSON. In text a further line of an event begins with four spaces, so that
// no message looks like an event of its own. Fields: time (RFC 3339, UTC, ms), level, component,
// message.
//
// Thread-safety: Set is called once or by main only; the formatter by spdlog under its lock.
// Errors: none; bytes that are not UTF-8 become '?'. Cost: a copy of the message.
#ifndef FATHOM_DAEMON_SERVICE_LOG_LINES_H_
#define FATHOM_DAEMON_SERVICE_LOG_LINES_H_

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace fathom::service {

class LogLines final : public spdlog::formatter {
 public:
  enum class Format { kText, kLogfmt, kJson };

  // False: none of text, logfmt, json.
  static bool Parse(std::string_view name, Format& format) {
    if (name != "text" && name != "logfmt" && name != "json") return false;
    format = name == "text" ? Format::kText : name == "json" ? Format::kJson : Format::kLogfmt;
    return true;
  }

  // Makes the process log so, on stderr. Requires: Parse knows the name, spdlog the level.
  static void SetUp(const std::string& component, const std::string& format,
                    const std::string& level) {
    spdlog::set_default_logger(spdlog::stderr_color_mt(component));
    Take(component, format, level);
  }
  // The same for a process that logs already.
  static void Take(const std::string& component, const std::string& format,
                   const std::string& level) {
    Format form = Format::kText;
    Parse(format, form);
    spdlog::set_formatter(std::make_unique<LogLines>(component, form));
    spdlog::set_level(spdlog::level::from_str(level));
  }

  LogLines(std::string component, Format format)
      : component_(std::move(component)), format_(format) {}

  void format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) override {
    const std::string line = Line(
        Time(event.time), Text(spdlog::level::to_string_view(event.level)), Text(event.payload));
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LogLines>(component_, format_);
  }

  std::string Line(const std::string& time, std::string_view level,
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

 private:
  static std::string_view Text(spdlog::string_view_t text) { return {text.data(), text.size()}; }

  static std::string Time(std::chrono::system_clock::time_point at) {
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
    const time_t seconds = ms / 1000;
    tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    char rest[8];
    std::snprintf(rest, sizeof rest, ".%03dZ", static_cast<int>(ms % 1000));
    return std::string(text) + rest;
  }

  static std::string Plain(std::string_view message) {
    std::string out;
    for (const char c : message) {
      const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
      c == '\n' ? out += "\n    " : out += control ? ' ' : c;
    }
    return out;
  }

  // A JSON string, which is a logfmt one too. How long the sequence of UTF-8 at `at` is; 0: none.
  static std::size_t Utf8(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t size = byte < 0x80   ? 1
                             : byte < 0xc2 ? 0
                             : byte < 0xe0 ? 2
                             : byte < 0xf0 ? 3
                             : byte < 0xf5 ? 4
                                           : 0;
    if (at + size > text.size()) return 0;
    for (std::size_t i = 1; i < size; ++i) {
      if ((static_cast<unsigned char>(text[at + i]) & 0xc0) != 0x80) return 0;
    }
    // Overlong forms, surrogates, and what lies beyond Unicode.
    const auto second = size > 2 ? static_cast<unsigned char>(text[at + 1]) : 0u;
    const bool bad = (byte == 0xe0 && second < 0xa0) || (byte == 0xed && second > 0x9f) ||
                     (byte == 0xf0 && second < 0x90) || (byte == 0xf4 && second > 0x8f);
    return bad ? 0 : size;
  }
  static std::string Quoted(std::string_view text) {
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = Utf8(text, at);
      const auto byte = static_cast<unsigned char>(text[at]);
      char escape[8];
      if (size == 0) {
        out += '?';
      } else if (byte == '"' || byte == '\\') {
        out.append("\\").append(text.substr(at, 1));
      } else if (byte == '\n') {
        out += "\\n";
      } else if (byte < 0x20 || byte == 0x7f) {
        std::snprintf(escape, sizeof escape, "\\u%04x", unsigned{byte});
        out += escape;
      } else {
        out.append(text.substr(at, size));
      }
      at += size == 0 ? 1 : size;
    }
    return out + "\"";
  }

  const std::string component_;
  const Format format_;
};

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_LOG_LINES_H_
