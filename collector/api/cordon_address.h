// Where a fathom-cordon is, as the setting cordon_http says it: HOST:PORT or a URL.
//
// Used by CordonMirror, CordonRelay and the checks of settings. Header only.
// Thread-safety: pure functions. Errors: none; what is no address is neither private nor reached.
#ifndef FATHOM_COLLECTOR_API_CORDON_ADDRESS_H_
#define FATHOM_COLLECTOR_API_CORDON_ADDRESS_H_

#include <string>

#include "collector/net/listen_probe.h"
#include "daemon/service/loopback.h"

namespace fathom::collector {

// Without a path; empty stays empty.
inline std::string CordonUrl(const std::string& address) {
  const bool whole = address.empty() || address.find("://") != std::string::npos;
  return whole ? address : "http://" + address;
}

// Whether a person's token can be sent there: over TLS, or without leaving this machine.
inline bool CordonIsPrivate(const std::string& address) {
  const std::string url = CordonUrl(address);
  if (url.starts_with("https://")) return true;
  if (!url.starts_with("http://")) return false;
  const std::string authority = url.substr(7, url.find('/', 7) - 7);
  if (authority.find('@') != std::string::npos) return false;  // a name before the host
  HostPort where;
  return service::IsLoopback(ParseHostPort(authority, where).ok() ? where.host : authority);
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_CORDON_ADDRESS_H_
