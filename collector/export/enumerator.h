// Names of enumerators, back from texts.
//
// Used by what reads messages of ours again. Thread-safety: pure function.
#ifndef FATHOM_COLLECTOR_EXPORT_ENUMERATOR_H_
#define FATHOM_COLLECTOR_EXPORT_ENUMERATOR_H_

#include <string>

namespace fathom::collector {

// The enumerator whose name is `text`, or the first one.
template <typename Enum>
Enum Named(const std::string& text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (ToString(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  return Enum{};
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_EXPORT_ENUMERATOR_H_
