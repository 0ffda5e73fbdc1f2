#include "collector/export/html/page_bundle.h"

namespace fathom::collector {

PageBundle RecordedBundle() { return {}; }

}  // namespace fathom::collector
