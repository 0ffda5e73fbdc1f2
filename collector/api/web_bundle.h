// The page: a few files compiled into the binary.
//
// Made by collector/web (esbuild, then bytes as C++); a one-line stand-in is linked where that was
// not built. Served by collector/http as they are.
// Thread-safety: constant data. Ownership: static; views stay valid for ever.
#ifndef FATHOM_COLLECTOR_API_WEB_BUNDLE_H_
#define FATHOM_COLLECTOR_API_WEB_BUNDLE_H_

#include <span>
#include <string_view>

namespace fathom::collector {

struct WebFile {
  std::string_view path;  // "/", "/app.js", …
  std::string_view type;  // Content-Type
  std::string_view bytes;
  std::string_view etag;  // with its quotes
};

std::span<const WebFile> WebBundle();

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_API_WEB_BUNDLE_H_
