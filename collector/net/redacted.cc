#include "collector/net/redacted.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>

#include <string_view>

namespace fathom::collector {
namespace {

constexpr std::size_t kShortestPart = 8;  // of a path; shorter ones are words
constexpr std::string_view kAuthorization = "Authorization: ";

void AddUser(const std::string& url, std::vector<std::string>& secrets) {
  const auto scheme = url.find("://");
  const std::size_t begin = scheme == url.npos ? 0 : scheme + 3;
  const std::string authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const auto at = authority.rfind('@');
  if (at == authority.npos) return;
  const std::string user = authority.substr(0, at);
  secrets.insert(secrets.end(), {user, absl::Base64Escape(user)});
  if (const auto colon = user.find(':'); colon != user.npos) {
    secrets.push_back(user.substr(colon + 1));
  }
}

void AddPath(const std::string& url, std::vector<std::string>& secrets) {
  const auto scheme = url.find("://");
  const auto path = url.find('/', scheme == url.npos ? 0 : scheme + 3);
  if (path == url.npos) return;
  secrets.push_back(url.substr(path));
  for (const auto part : absl::StrSplit(url.substr(path), absl::ByAnyChar("/?&="))) {
    if (part.size() >= kShortestPart) secrets.emplace_back(part);
  }
}

}  // namespace

std::string Redacted(std::string text, const std::string& url,
                     const std::vector<std::string>& headers,
                     const std::vector<std::string>& more) {
  std::vector<std::string> secrets = {url};
  AddUser(url, secrets);
  AddPath(url, secrets);
  for (const std::string& header : headers) {
    if (!header.starts_with(kAuthorization)) continue;
    const std::string value = header.substr(kAuthorization.size());
    secrets.insert(secrets.end(), {value, value.substr(value.rfind(' ') + 1)});
  }
  secrets.insert(secrets.end(), more.begin(), more.end());
  for (const std::string& secret : secrets) {
    if (secret.size() > 1) text = absl::StrReplaceAll(text, {{secret, "***"}});
  }
  return text;
}

}  // namespace fathom::collector
