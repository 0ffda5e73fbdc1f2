// Tells groups apart that bear one name.
//
// Used by the importers of Kineto traces and Flight Recorder dumps, before groups are joined over
// ranks by their names.
//
// Model: PyTorch names a group by how many the process has made. Where all ranks make all groups
// that is one name a group; where some leave out groups that they are not in, group "9" of ranks 0
// and 1 and group "9" of ranks 4 and 5 are two. Each file says who is in the groups of its own
// rank. Lists that share no rank are groups of their own; lists that overlap contradict each other,
// and that is for the importer to note.
//
// Thread-safety: pure function. Errors: none. Cost: O(claims × members × log).
#ifndef FATHOM_COLLECTOR_IMPORT_READING_GROUP_CLAIMS_H_
#define FATHOM_COLLECTOR_IMPORT_READING_GROUP_CLAIMS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fathom::collector {

// What the file of `rank` says of a group; ranks empty: nothing.
struct GroupClaim {
  std::uint32_t rank = 0;
  std::string name;
  std::vector<std::uint32_t> ranks;
};

using GroupOfRank = std::pair<std::uint32_t, std::string>;  // rank of the file, name in it

// The names to use instead, of those groups that share theirs with another.
std::map<GroupOfRank, std::string> NamesApart(std::vector<GroupClaim> claims);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_READING_GROUP_CLAIMS_H_
