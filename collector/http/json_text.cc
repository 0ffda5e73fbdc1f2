#include "collector/http/json_text.h"

#include <nlohmann/json.hpp>

#include "collector/http/json_writer.h"

namespace fathom::collector {

std::string JsonText(const std::string& body, const char* name, std::size_t most) {
  const auto tree = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!tree.is_object()) return "";
  const auto at = tree.find(name);
  return at != tree.end() && at->is_string() ? CutText(at->get<std::string>(), most) : "";
}

}  // namespace fathom::collector
