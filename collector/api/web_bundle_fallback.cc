#include <array>

#include "collector/api/web_bundle.h"

namespace fathom::collector {

std::span<const WebFile> WebBundle() {
  static constexpr std::array<WebFile, 1> kFiles = {
      WebFile{"/", "text/html; charset=utf-8",
              "<!doctype html><title>fathom</title><p>This build has no page; the API is at "
              "<a href=\"/api/v1/jobs\">/api/v1/jobs</a>.\n",
              "\"fallback-1\""}};
  return kFiles;
}

}  // namespace fathom::collector
