// Any bytes as what a stranger asks of the HTTP port: method-independent parts of a request and
// the headers that decide whether it is answered. Lines: path, query, Host, Origin.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "collector/http/request.h"

namespace {

std::string_view NextLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fathom::collector;  // NOLINT
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view path = NextLine(text), query = NextLine(text), host = NextLine(text);
  const std::vector<std::string> allowed = {"fathom.example"};
  (void)HostAllowed(host, allowed);
  (void)SameOrigin(text, host, allowed);
  const auto request = ParseTarget(path, query);
  if (!request) return 0;
  for (const std::string& segment : request->segments) {
    if (segment.find('\0') != segment.npos) std::abort();
  }
  for (const auto& [name, value] : request->parameters) {
    (void)request->Number(name, 0);
    (void)request->Text(name);
    if (value.find('\0') != value.npos) std::abort();
  }
  return 0;
}
