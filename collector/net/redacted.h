// What somebody else's server said, without what it was told in confidence.
//
// Used wherever words of an answer go into an error, a log or a page: some servers send back the
// address and the headers that they were asked with. Model: left out are the address up to its
// host, a user and password in it (also as HTTP encodes them), its path and each long part of that,
// the values of Authorization headers, and `more`.
//
// Thread-safety: pure. Errors: none. Cost: O(text) for each secret.
#ifndef FATHOM_COLLECTOR_NET_REDACTED_H_
#define FATHOM_COLLECTOR_NET_REDACTED_H_

#include <string>
#include <vector>

namespace fathom::collector {

// `url`: as it is set, without what is put behind it for a request; `headers`: "Name: value".
std::string Redacted(std::string text, const std::string& url,
                     const std::vector<std::string>& headers,
                     const std::vector<std::string>& more = {});

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_REDACTED_H_
