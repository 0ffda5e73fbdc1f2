#include "collector/import/kineto/event_parser.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "collector/import/kineto/names.h"

namespace fathom::collector::kineto {
namespace {

using simdjson::ondemand::object;
using simdjson::ondemand::value;

constexpr std::int64_t kNsPerUs = 1000;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The text between the quotes, escapes unresolved. simdjson's own get_string() copies each.
std::string_view Unquoted(std::string_view token) {
  if (token.empty() || token.front() != '"') return {};
  const char* const begin = token.data() + 1;
  const char* const limit = token.data() + token.size();
  const char* at = begin;
  while (at < limit) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(limit - at)));
    if (quote == nullptr) return {};
    const char* slash = quote;
    while (slash > begin && slash[-1] == '\\') --slash;
    if ((quote - slash) % 2 == 0) return {begin, static_cast<std::size_t>(quote - begin)};
    at = quote + 1;
  }
  return {};
}

// A number, or a number in quotes: both are met for stream, device and Seq.
bool ParseInteger(std::string_view token, std::int64_t& to) {
  if (!token.empty() && token.front() == '"') token = Unquoted(token);
  std::int64_t parsed = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), parsed);
  if (error != std::errc{} || end == token.data()) return false;
  to = parsed;
  return true;
}

// "25166", "stream 7": threads were printed as text before PyTorch 1.11. Other words are no number.
void ParseThread(std::string_view token, std::int64_t& to) {
  if (token.empty() || token.front() != '"') {
    ParseInteger(token, to);
    return;
  }
  std::string_view text = Unquoted(token);
  constexpr std::string_view kStream = "stream ";
  if (text.starts_with(kStream)) text.remove_prefix(kStream.size());
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
    ParseInteger(text, to);
  }
}

bool Token(value& from, std::string_view& token) {
  token = from.raw_json_token();
  return !token.empty();
}

bool KeyIs(std::string_view key, std::string_view name) {
  if (key.size() != name.size()) return false;
  for (std::size_t i = 0; i < key.size(); ++i) {
    // "External id", "external id" and "External Id" are all met.
    if ((key[i] | 0x20) != (name[i] | 0x20)) return false;
  }
  return true;
}

bool FieldKey(simdjson::ondemand::field& field, std::string_view& key) {
  const char* raw = field.key().raw();
  const char* end = raw;
  while (*end != '"' && *end != '\0') ++end;  // known keys hold no escapes
  key = {raw, static_cast<std::size_t>(end - raw)};
  return true;
}

// [[2, 48, 160], …] or [[[245760]], …]: the product of the first innermost list, read from the text
// because its depth differs between an op on a tensor and one on a list of tensors. Ends at the
// first character that such a list cannot hold: in parsed text there always is one.
std::int64_t FirstProduct(const char* at) {
  while (*at == '[' || IsSpace(*at)) ++at;
  if (*at < '0' || *at > '9') return kAbsent;
  std::int64_t product = 1;
  std::int64_t dimension = 0;
  for (;; ++at) {
    if (*at >= '0' && *at <= '9') {
      if (dimension > std::numeric_limits<std::int64_t>::max() / 16) return kAbsent;
      dimension = dimension * 10 + (*at - '0');
    } else if (*at == ',' || *at == ']') {
      if (__builtin_mul_overflow(product, dimension, &product)) return kAbsent;
      dimension = 0;
      if (*at == ']') return product;
    } else if (!IsSpace(*at)) {
      return kAbsent;
    }
  }
}

// ["", "", "2", "0"]: numbers among texts, by place.
bool ParseConcrete(value& list, EventArgs& args) {
  simdjson::ondemand::array array;
  if (list.get_array().get(array) != simdjson::SUCCESS) return true;  // null and "" are met
  std::size_t at = 0;
  for (auto element : array) {
    value item;
    if (element.get(item) != simdjson::SUCCESS) return false;
    std::string_view token;
    if (!Token(item, token)) continue;
    const std::string_view text = Unquoted(token);
    if (text == "True") args.last_truth = 1;
    if (text == "False") args.last_truth = 0;
    if (at < EventArgs::kConcrete && ParseInteger(token, args.concrete[at])) {
      args.concrete_known = static_cast<std::uint8_t>(args.concrete_known | (1U << at));
    }
    ++at;
  }
  return true;
}

bool ParseInputTypes(value& list, EventArgs& args) {
  simdjson::ondemand::array array;
  if (list.get_array().get(array) != simdjson::SUCCESS) return true;
  for (auto element : array) {
    value item;
    if (element.get(item) != simdjson::SUCCESS) return false;
    std::string_view token;
    if (args.input_type.empty() && Token(item, token)) args.input_type = Unquoted(token);
  }
  return true;
}

bool IntegerInto(value& from, std::int64_t& to) {
  std::string_view token;
  if (Token(from, token)) ParseInteger(token, to);
  return true;
}

bool TextInto(value& from, std::string_view& to) {
  std::string_view token;
  if (Token(from, token)) to = Unquoted(token);
  return true;
}

// Text, or the whole of a list of numbers, as it stands: both are met for ranks.
bool ListInto(value& from, std::string_view& to) {
  std::string_view token;
  if (!Token(from, token)) return true;
  to = Unquoted(token);
  if (token.front() != '[') return true;
  const char* end = token.data();
  while (*end != ']' && *end != '}' && *end != '\0') ++end;  // parsed text has one of them
  to = {token.data(), static_cast<std::size_t>(end - token.data())};
  return true;
}

struct IntegerKey {
  std::string_view name;
  std::int64_t EventArgs::*to;
};
struct TextKey {
  std::string_view name;
  std::string_view EventArgs::*to;
};

constexpr IntegerKey kIntegerKeys[] = {
    {"stream", &EventArgs::stream},
    {"device", &EventArgs::device},
    {"correlation", &EventArgs::correlation},
    {"External id", &EventArgs::external_id},
    {"In msg nelems", &EventArgs::in_elements},
    {"Out msg nelems", &EventArgs::out_elements},
    {"Group size", &EventArgs::group_size},
    {"Seq", &EventArgs::sequence},
    {"Src Rank", &EventArgs::source_rank},
    {"Dst Rank", &EventArgs::target_rank},
    {"Rank", &EventArgs::group_rank},
    {"bytes", &EventArgs::bytes},
};
constexpr TextKey kTextKeys[] = {
    {"Collective name", &EventArgs::collective},
    {"dtype", &EventArgs::data_type},
    {"Process Group Name", &EventArgs::group_name},
    {"Process Group Description", &EventArgs::group_description},
};

bool ParseArg(std::string_view key, value& from, EventArgs& args) {
  for (const IntegerKey& known : kIntegerKeys) {
    if (KeyIs(key, known.name)) return IntegerInto(from, args.*known.to);
  }
  for (const TextKey& known : kTextKeys) {
    if (KeyIs(key, known.name)) return TextInto(from, args.*known.to);
  }
  if (KeyIs(key, "Input Dims")) {
    std::string_view token;
    if (Token(from, token)) args.input_elements = FirstProduct(token.data());
    return true;
  }
  if (KeyIs(key, "Process Group Ranks")) return ListInto(from, args.group_ranks);
  if (KeyIs(key, "Input type")) return ParseInputTypes(from, args);
  if (KeyIs(key, "Concrete Inputs")) return ParseConcrete(from, args);
  return true;
}

bool ParseGroup(object& from, TraceGroup& group) {
  for (auto entry : from) {
    simdjson::ondemand::field field;
    if (std::move(entry).get(field) != simdjson::SUCCESS) return false;
    std::string_view key;
    FieldKey(field, key);
    value item = field.value();
    std::string_view text;
    std::int64_t number = 0;
    if (key == "pg_name" && TextInto(item, text)) group.name = std::string(text);
    if (key == "pg_name" && group.name.empty() && IntegerInto(item, number)) {
      group.name = std::to_string(number);  // a bare number in some versions
    }
    if (key == "pg_desc" && TextInto(item, text)) group.description = std::string(text);
    if ((key == "pg_size" || key == "group_size") && IntegerInto(item, number) && number > 0) {
      group.size = static_cast<std::uint32_t>(number);
    }
    if (key == "ranks" && ListInto(item, text)) group.ranks = RanksOfText(text);
  }
  if (!group.ranks.empty()) group.size = static_cast<std::uint32_t>(group.ranks.size());
  return true;
}

bool ParseGroups(value& list, std::vector<TraceGroup>& groups) {
  simdjson::ondemand::array array;
  if (list.get_array().get(array) != simdjson::SUCCESS) return true;
  for (auto element : array) {
    object item;
    if (element.get_object().get(item) != simdjson::SUCCESS) return false;
    TraceGroup group;
    if (!ParseGroup(item, group)) return false;
    if (!group.name.empty()) groups.push_back(std::move(group));
  }
  return true;
}

bool ParseDistributed(value& from, TraceHeader& header) {
  object info;
  if (from.get_object().get(info) != simdjson::SUCCESS) return true;
  for (auto entry : info) {
    simdjson::ondemand::field field;
    if (std::move(entry).get(field) != simdjson::SUCCESS) return false;
    std::string_view key;
    FieldKey(field, key);
    value item = field.value();
    std::string_view text;
    if (key == "rank") IntegerInto(item, header.rank);
    if (key == "world_size") IntegerInto(item, header.world_size);
    if (key == "backend" && TextInto(item, text)) header.backend = std::string(text);
    if (key == "pg_config" && !ParseGroups(item, header.groups)) return false;
  }
  return true;
}

bool ParseExponent(std::string_view token, std::int64_t& ns) {
  const std::string text(token);
  char* end = nullptr;
  const double us = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(us) || std::abs(us) > 9e15) return false;
  ns = static_cast<std::int64_t>(std::llround(us * static_cast<double>(kNsPerUs)));
  return true;
}

}  // namespace

bool ParseMicroseconds(std::string_view token, std::int64_t& ns) {
  if (!token.empty() && token.front() == '"') token = Unquoted(token);
  std::int64_t whole = 0;
  const char* const limit = token.data() + token.size();
  const bool negative = !token.empty() && token.front() == '-';
  const auto [end, error] = std::from_chars(token.data(), limit, whole);
  if (error != std::errc{}) return false;
  std::int64_t fraction = 0;
  const char* at = end;
  if (at < limit && *at == '.') {
    std::int64_t unit = kNsPerUs / 10;
    for (++at; at < limit && *at >= '0' && *at <= '9'; ++at, unit /= 10) {
      fraction += (*at - '0') * unit;
    }
  }
  if (at < limit && (*at == 'e' || *at == 'E')) return ParseExponent(token, ns);
  if (__builtin_mul_overflow(whole, kNsPerUs, &ns)) return false;
  return !__builtin_add_overflow(ns, negative ? -fraction : fraction, &ns);
}

bool ParseEvent(object& from, TraceEvent& event) {
  for (auto entry : from) {
    simdjson::ondemand::field field;
    if (std::move(entry).get(field) != simdjson::SUCCESS) return false;
    std::string_view key;
    FieldKey(field, key);
    value item = field.value();
    if (key.size() > 4 || key == "args") continue;
    const std::string_view token = item.raw_json_token();
    if (key == "ts") {
      event.timed = ParseMicroseconds(token, event.begin);
    } else if (key == "dur") {
      ParseMicroseconds(token, event.duration);
    } else if (key == "tid") {
      ParseThread(token, event.thread);
    } else if (key == "pid") {
      ParseInteger(token, event.process);
    } else if (key == "ph") {
      const std::string_view phase = Unquoted(token);
      event.phase = phase.empty() ? '\0' : phase.front();
    } else if (key == "cat") {
      event.category = Unquoted(token);
    } else if (key == "name") {
      event.name = Unquoted(token);
    }
  }
  return true;
}

bool ParseArgs(object& from, EventArgs& args) {
  for (auto entry : from) {
    simdjson::ondemand::field field;
    if (std::move(entry).get(field) != simdjson::SUCCESS) return false;
    std::string_view key;
    FieldKey(field, key);
    if (key != "args") continue;
    object given;
    if (field.value().get_object().get(given) != simdjson::SUCCESS) return true;
    for (auto arg : given) {
      simdjson::ondemand::field one;
      if (std::move(arg).get(one) != simdjson::SUCCESS) return false;
      FieldKey(one, key);
      value item = one.value();
      if (!ParseArg(key, item, args)) return false;
    }
  }
  return true;
}

bool ParseHeaderField(std::string_view key, value item, TraceHeader& header) {
  if (key == "baseTimeNanoseconds") return IntegerInto(item, header.base_ns);
  if (key == "distributedInfo") return ParseDistributed(item, header);
  std::string_view text;
  if (key == "host_name" && TextInto(item, text)) header.host = std::string(text);
  return true;
}

bool ParseHeader(object& from, TraceHeader& header) {
  for (auto entry : from) {
    simdjson::ondemand::field field;
    if (std::move(entry).get(field) != simdjson::SUCCESS) return false;
    std::string_view key;
    FieldKey(field, key);
    if (!ParseHeaderField(key, field.value(), header)) return false;
  }
  return true;
}

}  // namespace fathom::collector::kineto
