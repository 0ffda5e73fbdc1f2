#include "collector/cli/bundle/redaction.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <utility>

#include "collector/cli/text/text.h"
#include "collector/net/masked_url.h"

namespace fathom::cli {
namespace {

constexpr std::string_view kGone = "***";
constexpr std::array<std::string_view, 9> kNames = {"token",   "secret",        "password",
                                                    "passwd",  "authorization", "apikey",
                                                    "api_key", "credential",    "routing_key"};
constexpr std::size_t kLongestLine = 2048;  // std::regex recurses for each character

void ReplaceAll(std::string& text, std::string_view from) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + kGone.size())) {
    text.replace(at, from.size(), kGone);
  }
}

bool HasSecretName(std::string_view text) {
  std::string lower = LowerCase(text);
  std::replace(lower.begin(), lower.end(), '-', '_');
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view each) { return lower.find(each) != lower.npos; });
}

// name: value, name=value, "name": "value", --name value
std::string WithoutNamedValues(const std::string& line) {
  static const std::regex pair(
      R"re(([A-Za-z][\w.-]*)("?\s*[:=]\s*|\s+)("[^"]*"|'[^']*'|(?:Bearer |Basic )?[^\s,;"']+))re");
  if (!HasSecretName(line)) return line;
  std::string out;
  auto rest = line.cbegin();
  for (std::smatch m; std::regex_search(rest, line.cend(), m, pair);) {
    const bool spaced = m[2].str().find_first_of(":=") == std::string::npos;
    const bool option = m.position(1) >= 2 && m.prefix().str().ends_with("--");
    const bool secret = IsSecretName(m[1].str()) && (!spaced || option);
    const auto end = secret ? m[0].second : m[1].second;
    out.append(m.prefix().first, m.prefix().second).append(m[1].first, m[1].second);
    if (secret) out.append(m[2].first, m[2].second).append(kGone);
    rest = end;
  }
  return out.append(rest, line.cend());
}

std::string WithoutAddresses(const std::string& line) {
  static const std::regex url(R"re([a-z][a-z0-9+.-]*://[^\s"'<>,|]+)re");
  std::string out;
  auto rest = line.cbegin();
  for (std::smatch m; std::regex_search(rest, line.cend(), m, url); rest = m[0].second) {
    out.append(rest, m[0].first).append(collector::MaskedUrl(m[0].str()));
  }
  return out.append(rest, line.cend());
}

std::string WithoutCredentials(const std::string& line) {
  static const std::regex credential(
      R"re(\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*)re");
  return std::regex_replace(line, credential, "$1***");
}

std::string Line(const std::string& line) {
  return WithoutNamedValues(WithoutCredentials(WithoutAddresses(line)));
}

}  // namespace

bool IsSecretName(std::string_view name) {
  const bool names_a_file = name.ends_with("_file") || name.ends_with("-file");
  return !names_a_file && HasSecretName(name);
}

void Redaction::Know(std::string_view secret) {
  const std::string_view word = StripBlanks(secret);
  if (word.size() >= kShortest) known_.emplace(word);
}

void Redaction::KnowFilesOf(std::string_view settings) {
  for (const std::string_view line : SplitWords(settings, "\n")) {
    const auto colon = line.find_first_of(":=");
    if (colon == line.npos) continue;
    const std::string name = LowerCase(StripBlanks(line.substr(0, colon)));
    if (!name.ends_with("_file") && !name.ends_with("tokens")) continue;
    std::ifstream stream{std::string(StripBlanks(line.substr(colon + 1)))};
    for (std::string word; stream >> word;) {
      if (word != "operator" && word != "viewer") Know(word);
    }
  }
}

std::string Redaction::Applied(std::string_view text) const {
  std::string whole(text);
  for (auto at = known_.rbegin(); at != known_.rend(); ++at) ReplaceAll(whole, *at);
  std::string out;
  bool key = false;  // inside a private key
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t newline = std::min(whole.find('\n', begin), whole.size());
    const std::string line = whole.substr(begin, std::min(newline - begin, kLongestLine));
    key |= line.find("-----BEGIN ") != line.npos && line.find("PRIVATE KEY") != line.npos;
    const bool shown = !key;
    if (shown) out += Line(line);
    if (shown && newline - begin > kLongestLine) out += " (the rest of the line is left out)";
    if (line.find("-----END ") != line.npos && std::exchange(key, false)) out += kGone;
    if (!key && newline < whole.size()) out += '\n';
    begin = newline + 1;
  }
  return out;
}

}  // namespace fathom::cli
