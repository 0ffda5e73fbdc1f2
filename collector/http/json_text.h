// One text out of a JSON object that somebody else sent.
//
// Used for bodies of commands and for errors of fathom-cordon: cordon_relay, cordon_mirror,
// cordon_api. Thread-safety: pure function. Errors: none. Cost: the whole text is parsed.
#ifndef FATHOM_COLLECTOR_HTTP_JSON_TEXT_H_
#define FATHOM_COLLECTOR_HTTP_JSON_TEXT_H_

#include <cstddef>
#include <string>

namespace fathom::collector {

// The text of field `name`, at most `most` bytes of it (CutText); empty where there is none.
std::string JsonText(const std::string& body, const char* name, std::size_t most = 500);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_JSON_TEXT_H_
