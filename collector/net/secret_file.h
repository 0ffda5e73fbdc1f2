// A secret that lies in a file: its first line that is not empty.
//
// Used for receivers' addresses and keys, which must not stand on a command line that everybody on
// the machine can read.
//
// Thread-safety: pure but for reading the file. Errors: InvalidArgument, one line that names the
// file and never what is in it: not readable, empty, or readable or writable for everybody.
// Cost: the file is read.
#ifndef FATHOM_COLLECTOR_NET_SECRET_FILE_H_
#define FATHOM_COLLECTOR_NET_SECRET_FILE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

namespace fathom::collector {

absl::StatusOr<std::string> ReadSecretFile(const std::string& file);

// The same question of a file that something else reads. One that is not there is no matter here.
absl::Status CheckSecretFile(const std::string& file);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_SECRET_FILE_H_
