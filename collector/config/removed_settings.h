// Settings that earlier versions had, and what says the same today.
//
// Used by config/settings. A file of an earlier version still loads: whoever reads it is told which
// of its settings are not read any more, and where to turn instead.
//
// Thread-safety: pure function.
#ifndef FATHOM_COLLECTOR_CONFIG_REMOVED_SETTINGS_H_
#define FATHOM_COLLECTOR_CONFIG_REMOVED_SETTINGS_H_

#include <optional>
#include <string>
#include <string_view>

namespace fathom::collector {

// "see diagnosis.delta", "nothing takes its place"; none for a name that no version had.
std::optional<std::string> RemovedSetting(std::string_view name);

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_CONFIG_REMOVED_SETTINGS_H_
