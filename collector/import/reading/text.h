// Small questions about text that std::string_view does not answer, and Debian's Abseil cannot: its
// string_view is another type than the standard one.
//
// Used by collector/import. Pure functions; views are into the argument.
#ifndef FATHOM_COLLECTOR_IMPORT_READING_TEXT_H_
#define FATHOM_COLLECTOR_IMPORT_READING_TEXT_H_

#include <string_view>
#include <vector>

namespace fathom::collector::text {

inline bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

inline std::string_view TrimStart(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

inline std::string_view Trim(std::string_view text) {
  text = TrimStart(text);
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

inline std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(at); end != std::string_view::npos; end = text.find(at)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

inline bool Consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace fathom::collector::text

#endif  // FATHOM_COLLECTOR_IMPORT_READING_TEXT_H_
