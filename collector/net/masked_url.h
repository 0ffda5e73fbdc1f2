// An address as it may be shown: scheme, host and port, and nothing that could be a secret.
//
// Used wherever settings are printed and failures are told: a user and password before the host,
// and what follows it (Slack's addresses are secrets from there on), become "***". Header only:
// its users, the command line among them, share no library.
//
// Thread-safety: pure. Errors: none; what is no address comes back as it was.
#ifndef FATHOM_COLLECTOR_NET_MASKED_URL_H_
#define FATHOM_COLLECTOR_NET_MASKED_URL_H_

#include <string>
#include <string_view>

namespace fathom::collector {

inline std::string MaskedUrl(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return std::string(url);
  const std::string_view rest = url.substr(scheme + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const auto at = authority.rfind('@');
  std::string masked(url.substr(0, scheme + 3));
  if (at != authority.npos) masked.append("***@");
  masked.append(at == authority.npos ? authority : authority.substr(at + 1));
  const std::string_view tail = rest.substr(authority.size());
  return tail.size() > 1 ? masked.append("/***") : masked.append(tail);
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_MASKED_URL_H_
