// How a request to a server with a login says who asks: the token of a file.
//
// Used by CordonMirror and by fathom-cordon's AdviceSource, which ask as a viewer.
//
// Thread-safety: pure but for reading the file. Errors: none; without a readable token the request
// goes out without one, and the server says what it thinks of that. Cost: the file is read.
#ifndef FATHOM_COLLECTOR_NET_TOKEN_FILE_H_
#define FATHOM_COLLECTOR_NET_TOKEN_FILE_H_

#include <string>
#include <vector>

namespace fathom::collector {

// "Authorization: Bearer …" with the first word of the file, which may be ""; else no header.
std::vector<std::string> BearerHeaders(const std::string& token_file);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NET_TOKEN_FILE_H_
