// An address as it may be shown: scheme, host and port, and nothing that could be a secret.
//
// Used wherever settings are printed and failures are told: a user and password before the host,
// and what follows it (Slack's addresses are secrets from there on), become "***". An address that
// people type into a browser keeps what follows: WithoutUser. Header only:
// its users, the command line among them, share no library.
//
// Thread-safety: pure. Errors: none; what is no address comes back as it was, but for what stands
// before an '@'.
#ifndef FATHOM_COLLECTOR_NET_MASKED_URL_H_
#define FATHOM_COLLECTOR_NET_MASKED_URL_H_

#include <string>
#include <string_view>

namespace fathom::collector {

// "ann:secret@host:1/x" and "http://ann:secret@host:1/x": "***@host:1/x" and so on.
inline std::string WithoutUser(std::string_view url) {
  const auto scheme = url.find("://");
  const std::size_t begin = scheme == url.npos ? 0 : scheme + 3;
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const auto at = authority.rfind('@');
  if (at == authority.npos || begin + at == 0) return std::string(url);
  return std::string(url.substr(0, begin)).append("***").append(url.substr(begin + at));
}

// The address of a database: a password may stand before the host, and behind a question mark.
inline std::string MaskedDatabase(std::string_view place) {
  if (place.find("://") == place.npos) return std::string(place);  // a file
  const auto query = place.find('?');
  const std::string masked = WithoutUser(place.substr(0, query));
  return query == place.npos ? masked : masked + "?***";
}

inline std::string MaskedUrl(std::string_view url) {
  const std::string masked = WithoutUser(url);
  const auto scheme = masked.find("://");
  if (scheme == masked.npos) return masked;
  const auto tail = masked.find_first_of("/?#", scheme + 3);
  if (tail == masked.npos || tail + 1 == masked.size()) return masked;
  return masked.substr(0, tail) + "/***";
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_MASKED_URL_H_
