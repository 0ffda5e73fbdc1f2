// One self-contained HTML file about a recording: `fathom analyze --html FILE`.
//
// Model: the views of the live page (collector/web/recorded.ts) with their script, style and data
// inside. Opens from disk and needs no network; a content security policy lets this one script run
// and nothing be loaded. The data stands in a JSON element, every '<' of it escaped, and the script
// builds text nodes only: whatever a recording holds as names stays text.
//
// Shapes and bounds: page_data.h. Thread-safety: pure but for the file.
// Errors: those of the file; FailedPrecondition where fathom was built without the page.
// Cost: O(ranks × iterations kept), some 20 bytes each.
#ifndef FATHOM_COLLECTOR_EXPORT_HTML_PAGE_H_
#define FATHOM_COLLECTOR_EXPORT_HTML_PAGE_H_

#include <string>

#include "absl/status/status.h"
#include "collector/export/html/page_data.h"

namespace fathom::collector {

absl::Status WriteHtml(const PageInput& input, const std::string& path);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_HTML_PAGE_H_
