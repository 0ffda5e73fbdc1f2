// The static tokens of people: a file of lines "NAME viewer|operator sha256:HEX [YYYY-MM-DD]".
//
// Used by Login. The file holds hashes only, so that reading it gives nobody a token. '#' begins a
// comment line. A token has 16 to 512 characters that go into a header and a cookie unchanged. The
// date is the last day on which the token is good, in UTC. A name may stand on several lines, as
// while a token is being replaced.
//
// Thread-safety: immutable. Errors: InvalidArgument with file, line and what to write instead;
// FailedPrecondition for a file that is not there, or that everybody can read.
// Cost: Who takes one SHA-256 and one comparison a line. All lines are compared, each in constant
// time: how long it takes tells nothing about the hashes.
#ifndef FATHOM_COLLECTOR_HTTP_TOKEN_LIST_H_
#define FATHOM_COLLECTOR_HTTP_TOKEN_LIST_H_

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/http/person.h"
#include "proto/types/time_units.h"

namespace fathom::collector {

class TokenList {
 public:
  using Digest = std::array<unsigned char, 32>;

  static absl::StatusOr<TokenList> Load(const std::string& file);
  // `origin` prefixes errors.
  static absl::StatusOr<TokenList> Parse(const std::string& text, const std::string& origin);

  // Unauthenticated: nobody's, or out of date (which the message says).
  absl::StatusOr<Person> Who(std::string_view token, WallNs now) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Person person;
    Digest digest{};
    WallNs until;  // 0: for ever
  };
  static absl::Status ParseLine(const std::string& line, Entry& entry);

  std::vector<Entry> entries_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_TOKEN_LIST_H_
