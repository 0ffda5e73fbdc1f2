// Script and style of saved pages, as collector/web was bundled at build time.
//
// Used by page.h. Made by collector/web/embed.mjs; without Node (FATHOM_WEB off) by
// page_bundle_fallback.cc, which has none.
// Thread-safety: constants. Lifetime: of the program.
#ifndef FATHOM_COLLECTOR_EXPORT_HTML_PAGE_BUNDLE_H_
#define FATHOM_COLLECTOR_EXPORT_HTML_PAGE_BUNDLE_H_

#include <string_view>

namespace fathom::collector {

struct PageBundle {
  std::string_view script;  // holds no "</script"; empty: built without the page
  std::string_view style;
  std::string_view script_sha256;  // base64, for the page's content security policy
};

PageBundle RecordedBundle();

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_HTML_PAGE_BUNDLE_H_
