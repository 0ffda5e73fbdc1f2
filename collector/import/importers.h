// The names and the list of importers; see recognise.h.
//
// An importer is added in importers.cc, in the order in which importers read: step marks and groups
// first, then dumps, then what lies beside them. Thread-safety: constant after first use.
#ifndef FATHOM_COLLECTOR_IMPORT_IMPORTERS_H_
#define FATHOM_COLLECTOR_IMPORT_IMPORTERS_H_

#include <string_view>

namespace fathom::collector {

inline constexpr std::string_view kSideFiles = "side-files";

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_IMPORT_IMPORTERS_H_
