// Names on the bus: what of a job or a node may stand in a subject or a key of NATS.
//
// Used by bus/nats_* and by cluster. Pure functions. A name that holds other characters than
// letters, digits, '-' and '_' has them as "=XX", so that two names never meet in one.
#ifndef FATHOM_COLLECTOR_BUS_BUS_NAMES_H_
#define FATHOM_COLLECTOR_BUS_BUS_NAMES_H_

#include <string>
#include <string_view>

namespace fathom::collector {

inline std::string BusToken(std::string_view name) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string token;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (plain) {
      token += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    token += '=';
    token += kHex[byte >> 4];
    token += kHex[byte & 15];
  }
  return token.empty() ? "=" : token;
}

inline std::string NameOfToken(std::string_view token) {
  if (token == "=") return "";
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '=' || i + 2 >= token.size()) {
      name += token[i];
      continue;
    }
    name += static_cast<char>(digit(token[i + 1]) * 16 + digit(token[i + 2]));
    i += 2;
  }
  return name;
}

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_BUS_BUS_NAMES_H_
