// The lines that a daemon logs: as text for people, logfmt or JSON for what collects logs.
//
// Used by the mains of fathomd, fathom-collector and fathom-cordon, and by what checks their
// settings.
//
// Model: one line an event, whatever is in its message: line ends and other control characters are
// escaped in logfmt and JSON. In text a further line of an event begins with four spaces, so that
// no message looks like an event of its own. Fields: time (RFC 3339, UTC, ms), level, component,
// message.
//
// Thread-safety: SetUp and Take are called by main only; the formatter by spdlog under its lock.
// Errors: none; bytes that are not UTF-8 become '?'. Cost: a copy of the message.
#ifndef FATHOM_DAEMON_SERVICE_LOG_LINES_H_
#define FATHOM_DAEMON_SERVICE_LOG_LINES_H_

#include <absl/status/status.h>
#include <spdlog/formatter.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::service {

class LogLines final : public spdlog::formatter {
 public:
  enum class Format : std::uint8_t { kText, kLogfmt, kJson };

  // Nothing: none of text, logfmt, json.
  static std::optional<Format> FormatOf(std::string_view name);

  // Makes the process log so, on stderr. Requires: FormatOf knows the format, spdlog the level.
  static void SetUp(const std::string& component, const std::string& format,
                    const std::string& level);
  // The same for a process that logs already.
  static void Take(const std::string& component, const std::string& format,
                   const std::string& level);

  LogLines(std::string component, Format format);

  void format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) override;
  std::unique_ptr<spdlog::formatter> clone() const override;

  std::string Line(const std::string& time, std::string_view level, std::string_view message) const;

 private:
  const std::string component_;
  const Format format_;
};

// The settings log_level and log_format of fathom-collector and fathom-cordon; fathomd has other
// names for levels. Errors: InvalidArgument with the setting and what would do.
absl::Status CheckLog(std::string_view level, std::string_view format);

}  // namespace fathom::service

#endif  // FATHOM_DAEMON_SERVICE_LOG_LINES_H_
