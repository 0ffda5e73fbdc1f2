#include "collector/http/request.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "collector/http/json_writer.h"

namespace fathom::collector {
namespace {

constexpr std::size_t kMaxTarget = 4096;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> Decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') return std::nullopt;
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
      if (low < 0 || high * 16 + low == 0) return std::nullopt;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(text[i] == '+' && plus_is_space ? ' ' : text[i]);
    }
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    if (end != 0) parts.push_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

// Without the port; an IPv6 address keeps its brackets. Empty: no name.
std::string_view HostName(std::string_view host) {
  if (!host.starts_with('[')) return host.substr(0, host.find(':'));
  const std::size_t end = host.find(']') + 1;
  const bool whole = end == host.size() || host.substr(end).starts_with(':');
  return whole ? host.substr(0, end) : std::string_view();
}

}  // namespace

std::optional<std::int64_t> Request::Number(const std::string& name, std::int64_t otherwise) const {
  const auto at = parameters.find(name);
  if (at == parameters.end() || at->second.empty()) return otherwise;
  std::int64_t number = 0;
  const char* end = at->second.data() + at->second.size();
  const auto [rest, error] = std::from_chars(at->second.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

std::string Request::Text(const std::string& name) const {
  const auto at = parameters.find(name);
  return at == parameters.end() ? std::string() : at->second;
}

Response Response::Error(int status, std::string_view text) {
  return {status, "application/json", ErrorJson(text), ""};
}

std::optional<Request> ParseTarget(std::string_view path, std::string_view query) {
  if (path.size() + query.size() > kMaxTarget) return std::nullopt;
  Request request;
  request.path = std::string(path);
  for (const std::string_view part : Split(path, '/')) {
    auto decoded = Decode(part, false);
    if (!decoded) return std::nullopt;
    request.segments.push_back(*std::move(decoded));
  }
  for (const std::string_view pair : Split(query, '&')) {
    const auto equals = pair.find('=');
    const auto name = Decode(pair.substr(0, equals), true);
    const auto value =
        Decode(equals == pair.npos ? std::string_view() : pair.substr(equals + 1), true);
    if (!name || !value) return std::nullopt;
    request.parameters[*name] = *value;
  }
  return request;
}

std::optional<Response> RefusedUnlessJson(const Request& request) {
  if (request.content_type == "application/json") return std::nullopt;
  return Response::Error(415, "a POST needs Content-Type: application/json");
}

bool SameOrigin(std::string_view origin, std::string_view host,
                const std::vector<std::string>& allowed) {
  if (origin.empty()) return true;
  const auto slashes = origin.find("//");
  if (slashes == origin.npos) return false;  // "null": an opaque one
  const std::string_view from = origin.substr(slashes + 2);
  return from == host || std::find(allowed.begin(), allowed.end(), HostName(from)) != allowed.end();
}

bool HostAllowed(std::string_view host, const std::vector<std::string>& allowed) {
  const std::string_view name = HostName(host);
  constexpr std::array<std::string_view, 3> kLoopback = {"localhost", "127.0.0.1", "[::1]"};
  return std::find(kLoopback.begin(), kLoopback.end(), name) != kLoopback.end() ||
         std::find(allowed.begin(), allowed.end(), name) != allowed.end();
}

}  // namespace fathom::collector
