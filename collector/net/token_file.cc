#include "collector/net/token_file.h"

#include <fstream>

namespace fathom::collector {

std::vector<std::string> BearerHeaders(const std::string& token_file) {
  std::string token;
  if (!(std::ifstream(token_file) >> token)) return {};
  return {"Authorization: Bearer " + token};
}

}  // namespace fathom::collector
