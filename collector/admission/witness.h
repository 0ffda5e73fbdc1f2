// Who is at the other end of an agent's stream, as the kernel or a certificate tells, and for which
// nodes that one may speak.
//
// Made by AgentService from the connection, asked by AgentSession at Hello, kept by
// SessionRegistry. Model: with certificates a node's name is one of the names in its certificate
// (DNS names, the common name where there are none; letters of either case). A name *.example.org
// counts for one label in its place, and only where the collector's owner allows it. Without
// certificates any node may be named, and while a node is connected only the same identity takes
// its stream over.
//
// Thread-safety: plain value. Errors: PermissionDenied with the names that would do.
// Cost: O(names).
#ifndef FATHOM_COLLECTOR_ADMISSION_WITNESS_H_
#define FATHOM_COLLECTOR_ADMISSION_WITNESS_H_

#include <absl/status/status.h>

#include <optional>
#include <string>
#include <vector>

namespace fathom::collector {

struct Witness {
  std::string identity;  // "user 0", "10.0.0.7", "a certificate"; empty: nothing is known
  std::optional<std::vector<std::string>> names;  // of the certificate; nothing: none was asked for
  bool wildcards = false;                         // whether names with * count
  std::string refused = {};                       // why it may speak for nobody; empty: it may

  absl::Status MaySpeakFor(const std::string& node) const;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_ADMISSION_WITNESS_H_
