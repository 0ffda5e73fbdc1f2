#include "collector/import/kineto/trace/event_parser.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "collector/import/kineto/trace/names.h"

namespace fathom::collector::kineto {
namespace {

using simdjson::ondemand::object;
using simdjson::ondemand::value;

constexpr std::int64_t kNsPerUs = 1000;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The text between the quotes, escapes unresolved. A token reaches to the next one, so that only
// spaces follow its last quote. simdjson's own get_string() copies each.
std::string_view Unquoted(std::string_view token) {
  if (token.empty() || token.front() != '"') return {};
  while (IsSpace(token.back())) token.remove_suffix(1);
  if (token.size() < 2 || token.back() != '"') return {};
  return token.substr(1, token.size() - 2);
}

// False: none, or more than are sure to fit; then `to` is of no use.
bool ParseDigits(const char*& at, const char* const end, std::int64_t& to) {
  constexpr std::ptrdiff_t kSure = 18;
  const char* const begin = at;
  std::uint64_t parsed = 0;
  for (; at < end; ++at) {
    const auto digit = static_cast<unsigned char>(*at - '0');
    if (digit > 9) break;
    parsed = parsed * 10 + digit;
  }
  to = static_cast<std::int64_t>(parsed);
  return at > begin && at - begin <= kSure;
}

// A number, or a number in quotes: both are met for stream, device and Seq.
bool ParseInteger(std::string_view token, std::int64_t& to) {
  if (!token.empty() && token.front() == '"') token = Unquoted(token);
  const char* at = token.data();
  const char* const limit = token.data() + token.size();
  std::int64_t parsed = 0;
  if (!ParseDigits(at, limit, parsed)) {
    const auto [end, error] = std::from_chars(token.data(), limit, parsed);
    if (error != std::errc{} || end == token.data()) return false;
  }
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

// The key of a field: known ones hold no escapes. Before the value there are only spaces, the
// colon, and the quote that ends the key.
std::string_view KeyBefore(const char* raw, std::string_view value_token) {
  const char* end = value_token.data();
  while (*--end != '"') {
  }
  return {raw, static_cast<std::size_t>(end - raw)};
}

bool FieldKey(simdjson::ondemand::field& field, std::string_view& key) {
  const char* const raw = field.key().raw();
  key = KeyBefore(raw, field.value().raw_json_token());
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

using ReadArg = bool (*)(value& from, EventArgs& args);

struct ArgKey {
  std::string_view name;
  ReadArg read;
};

template <std::int64_t EventArgs::*to>
constexpr ReadArg kInteger =
    [](value& from, EventArgs& args) { return IntegerInto(from, args.*to); };
template <std::string_view EventArgs::*to>
constexpr ReadArg kText = [](value& from, EventArgs& args) { return TextInto(from, args.*to); };

constexpr ReadArg kInputDims = [](value& from, EventArgs& args) {
  std::string_view token;
  if (Token(from, token)) args.input_elements = FirstProduct(token.data());
  return true;
};
constexpr ReadArg kGrid = [](value& from, EventArgs& args) {
  std::string_view token;
  if (Token(from, token)) args.blocks = FirstProduct(token.data());
  return true;
};
constexpr ReadArg kGroupRanks = [](value& from, EventArgs& args) {
  return ListInto(from, args.group_ranks);
};

// By the length of the name.
constexpr std::array kArgKeys = {
    ArgKey{"Seq", kInteger<&EventArgs::sequence>},
    ArgKey{"Rank", kInteger<&EventArgs::group_rank>},
    ArgKey{"grid", kGrid},
    ArgKey{"bytes", kInteger<&EventArgs::bytes>},
    ArgKey{"dtype", kText<&EventArgs::data_type>},
    ArgKey{"stream", kInteger<&EventArgs::stream>},
    ArgKey{"device", kInteger<&EventArgs::device>},
    ArgKey{"Src Rank", kInteger<&EventArgs::source_rank>},
    ArgKey{"Dst Rank", kInteger<&EventArgs::target_rank>},
    ArgKey{"Group size", kInteger<&EventArgs::group_size>},
    ArgKey{"Input Dims", kInputDims},
    ArgKey{"Input type", ParseInputTypes},
    ArgKey{"correlation", kInteger<&EventArgs::correlation>},
    ArgKey{"External id", kInteger<&EventArgs::external_id>},
    ArgKey{"In msg nelems", kInteger<&EventArgs::in_elements>},
    ArgKey{"Out msg nelems", kInteger<&EventArgs::out_elements>},
    ArgKey{"Collective name", kText<&EventArgs::collective>},
    ArgKey{"Concrete Inputs", ParseConcrete},
    ArgKey{"Process Group Name", kText<&EventArgs::group_name>},
    ArgKey{"Process Group Ranks", kGroupRanks},
    ArgKey{"Process Group Description", kText<&EventArgs::group_description>},
};
constexpr std::size_t kLongestArg = kArgKeys.back().name.size();

// Where the names of each length begin; those of the next length end them.
constexpr auto kFirstOfLength = [] {
  std::array<std::uint8_t, kLongestArg + 2> first{};
  for (std::size_t length = 0; length < first.size(); ++length) {
    std::size_t at = 0;
    while (at < kArgKeys.size() && kArgKeys[at].name.size() < length) ++at;
    first[length] = static_cast<std::uint8_t>(at);
  }
  return first;
}();

bool ParseArg(std::string_view key, value& from, EventArgs& args) {
  if (key.size() > kLongestArg) return true;
  for (std::size_t i = kFirstOfLength[key.size()]; i < kFirstOfLength[key.size() + 1]; ++i) {
    if (KeyIs(key, kArgKeys[i].name)) return kArgKeys[i].read(from, args);
  }
  return true;
}

bool ParseArgs(value& from, EventArgs& args) {
  object given;
  if (from.get_object().get(given) != simdjson::SUCCESS) return true;
  for (auto arg : given) {
    if (arg.error() != simdjson::SUCCESS) return false;
    simdjson::ondemand::field&& field = std::move(arg).value_unsafe();
    std::string_view key;
    FieldKey(field, key);
    if (!ParseArg(key, field.value(), args)) return false;
  }
  return true;
}

// Texts end in a quote that no key of an event is without.
template <std::size_t size>
bool Starts(const char* raw, const char (&text)[size]) {
  return std::memcmp(raw, text, size - 1) == 0;
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
  const char* at = token.data();
  if (!ParseDigits(at, limit, whole)) {
    const auto [end, error] = std::from_chars(token.data(), limit, whole);
    if (error != std::errc{}) return false;
    at = end;
  }
  std::int64_t fraction = 0;
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

bool EventParser::Parse(object& from) {
  static const TraceEvent kNoEvent;
  static const EventArgs kNoArgs;
  event_ = kNoEvent;
  if (std::exchange(args_read_, false)) args_ = kNoArgs;
  bool undecided = false;
  for (auto entry : from) {
    if (entry.error() != simdjson::SUCCESS) return false;
    // Not get(): that copies, and the copy has to wait for the parts that were just written.
    simdjson::ondemand::field&& field = std::move(entry).value_unsafe();
    const char* const key = field.key().raw();
    if (!Starts(key, "args\"")) {
      ReadField(key, field.value().raw_json_token());
    } else if (event_.phase == '\0' || event_.category.empty() || event_.name.empty()) {
      undecided = true;
    } else if (!ReadArgs(field.value())) {
      return false;
    }
  }
  return !undecided || ReadArgsAgain(from);
}

void EventParser::ReadField(const char* key, std::string_view token) {
  switch (*key) {
    case 't':
      if (Starts(key, "ts\"")) event_.timed = ParseMicroseconds(token, event_.begin);
      if (Starts(key, "tid\"")) ParseThread(token, event_.thread);
      return;
    case 'd':
      if (Starts(key, "dur\"")) ParseMicroseconds(token, event_.duration);
      return;
    case 'p':
      if (Starts(key, "pid\"")) ParseInteger(token, event_.process);
      if (Starts(key, "ph\"")) event_.phase = Unquoted(token).empty() ? '\0' : token[1];
      return;
    case 'c':
      if (Starts(key, "cat\"")) event_.category = Unquoted(token);
      return;
    case 'n':
      if (Starts(key, "name\"")) event_.name = Unquoted(token);
  }
}

bool EventParser::ReadArgs(simdjson::ondemand::value& from) {
  if (!sink_.WantsArgs(event_)) return true;
  args_read_ = true;
  return ParseArgs(from, args_);
}

bool EventParser::ReadArgsAgain(object& from) {
  bool empty = false;
  if (from.reset().get(empty) != simdjson::SUCCESS) return false;
  for (auto entry : from) {
    simdjson::ondemand::field field;
    if (std::move(entry).get(field) != simdjson::SUCCESS) return false;
    if (Starts(field.key().raw(), "args\"") && !ReadArgs(field.value())) return false;
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
