#include "collector/import/flight_recorder/unpickler.h"

#include <array>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "collector/import/flight_recorder/pickle_operands.h"

namespace fathom::collector::flight_recorder {
namespace {

class Machine {
 public:
  Machine(Document& document, const UnpickleLimits& limits)
      : document_(document), limits_(limits), cursor_(document.bytes()) {}

  absl::StatusOr<Unpickled> Run();

 private:
  using Handler = absl::Status (Machine::*)();
  static std::array<Handler, 256> MakeHandlers();
  static std::string_view ForbiddenName(std::uint8_t op);

  absl::Status Step();
  absl::Status Bad(std::string_view what) const;
  absl::Status TooMuch(std::string_view what) const;
  absl::Status Need(std::size_t count) const;
  absl::Status Push(Value* value);
  absl::StatusOr<Value*> Make(ValueKind kind);
  absl::Status PushInteger(std::int64_t integer);
  absl::Status PushBool(bool value);
  absl::Status PushNumber(const PickledNumber& number);
  absl::Status PushText(ValueKind kind, std::string_view text);
  absl::StatusOr<std::size_t> PopMark();
  absl::Status MoveItems(std::size_t from, Value* to);
  absl::Status Collect(std::size_t from, ValueKind kind);
  absl::Status AddTo(std::size_t from, ValueKind kind);
  absl::Status Remember(std::uint64_t index);
  absl::Status Recall(std::uint64_t index);
  absl::Status TupleOf(std::size_t count);
  void Salvage();

  template <std::size_t Width>
  absl::Status SkipOperand() {
    return cursor_.Take(Width).status();
  }
  template <std::size_t Width>
  absl::Status BinInt() {
    const auto value = cursor_.Unsigned(Width);
    if (!value.ok()) return value.status();
    return PushInteger(Width == 4 ? static_cast<std::int32_t>(*value)
                                  : static_cast<std::int64_t>(*value));
  }
  template <std::size_t Width>
  absl::Status BinLong() {
    const auto bytes = cursor_.Counted(Width);
    if (!bytes.ok()) return bytes.status();
    return PushNumber(DecodeLong(*bytes));
  }
  template <std::size_t Width, ValueKind Kind>
  absl::Status CountedText() {
    const auto text = cursor_.Counted(Width);
    if (!text.ok()) return text.status();
    return PushText(Kind, *text);
  }
  template <std::size_t Width>
  absl::Status BinPut() {
    const auto index = cursor_.Unsigned(Width);
    return index.ok() ? Remember(*index) : index.status();
  }
  template <std::size_t Width>
  absl::Status BinGet() {
    const auto index = cursor_.Unsigned(Width);
    return index.ok() ? Recall(*index) : index.status();
  }
  template <ValueKind Kind>
  absl::Status Empty() {
    const auto value = Make(Kind);
    return value.ok() ? Push(*value) : value.status();
  }
  template <ValueKind Kind>
  absl::Status FromMark() {
    const auto from = PopMark();
    return from.ok() ? Collect(*from, Kind) : from.status();
  }
  template <ValueKind Kind>
  absl::Status AddFromMark() {
    const auto from = PopMark();
    return from.ok() ? AddTo(*from, Kind) : from.status();
  }
  template <std::size_t Count>
  absl::Status Tuple() {
    return TupleOf(Count);
  }
  template <bool Truth>
  absl::Status Bool() {
    return PushBool(Truth);
  }
  absl::Status Int();
  absl::Status Long();
  absl::Status Float();
  absl::Status BinFloat();
  absl::Status String();
  absl::Status Unicode();
  absl::Status Mark();
  absl::Status Pop();
  absl::Status PopToMark();
  absl::Status Dup();
  absl::Status Append();
  absl::Status SetItem();
  absl::Status Put();
  absl::Status Get();
  absl::Status Memoize() { return Remember(memo_.size()); }
  absl::Status Stop();

  Document& document_;
  const UnpickleLimits& limits_;
  PickleCursor cursor_;
  std::size_t op_at_ = 0;
  std::uint8_t op_ = 0;
  std::size_t links_ = 0;
  bool stopped_ = false;
  std::vector<Value*> stack_;
  std::vector<std::size_t> marks_;  // sizes of the stack when the marks were set
  absl::flat_hash_map<std::uint32_t, Value*> memo_;
};

absl::Status Machine::Bad(std::string_view what) const {
  return absl::InvalidArgumentError(
      absl::StrFormat("offset %d: opcode 0x%02x: %s", op_at_, op_, what));
}

absl::Status Machine::TooMuch(std::string_view what) const {
  return absl::ResourceExhaustedError(
      absl::StrFormat("offset %d: more %s than allowed", op_at_, what));
}

absl::Status Machine::Need(std::size_t count) const {
  const std::size_t fence = marks_.empty() ? 0 : marks_.back();
  return stack_.size() - fence >= count ? absl::OkStatus() : Bad("the stack is empty");
}

absl::Status Machine::Push(Value* value) {
  if (stack_.size() >= limits_.stack) return TooMuch("values on the stack");
  stack_.push_back(value);
  return absl::OkStatus();
}

absl::StatusOr<Value*> Machine::Make(ValueKind kind) {
  if (document_.size() >= limits_.values) return TooMuch("values");
  return document_.Add(kind);
}

absl::Status Machine::PushInteger(std::int64_t integer) {
  const auto value = Make(ValueKind::kInteger);
  if (!value.ok()) return value.status();
  (*value)->integer = integer;
  return Push(*value);
}

absl::Status Machine::PushBool(bool truth) {
  const auto value = Make(ValueKind::kBool);
  if (!value.ok()) return value.status();
  (*value)->integer = truth ? 1 : 0;
  return Push(*value);
}

absl::Status Machine::PushNumber(const PickledNumber& number) {
  if (number.integer) return PushInteger(*number.integer);
  const auto value = Make(ValueKind::kReal);
  if (!value.ok()) return value.status();
  (*value)->real = number.real;
  return Push(*value);
}

absl::Status Machine::PushText(ValueKind kind, std::string_view text) {
  const auto value = Make(kind);
  if (!value.ok()) return value.status();
  (*value)->text = text;
  return Push(*value);
}

absl::Status Machine::Int() {
  const auto line = cursor_.Line();
  if (!line.ok()) return line.status();
  if (*line == "00" || *line == "01") return PushBool(*line == "01");
  const auto number = DecodeDecimal(*line);
  return number ? PushNumber(*number) : Bad("not a number");
}

absl::Status Machine::Long() {
  const auto line = cursor_.Line();
  if (!line.ok()) return line.status();
  const auto number = DecodeDecimal(*line);
  return number ? PushNumber(*number) : Bad("not a number");
}

absl::Status Machine::Float() {
  const auto line = cursor_.Line();
  if (!line.ok()) return line.status();
  const auto real = DecodeReal(*line);
  return real ? PushNumber({std::nullopt, *real}) : Bad("not a number");
}

absl::Status Machine::BinFloat() {
  const auto bytes = cursor_.Take(8);
  if (!bytes.ok()) return bytes.status();
  return PushNumber({std::nullopt, DecodeBinFloat(*bytes)});
}

absl::Status Machine::String() {
  const auto line = cursor_.Line();
  if (!line.ok()) return line.status();
  auto text = DecodeQuoted(*line);
  if (!text) return Bad("not a quoted string");
  return PushText(ValueKind::kText, document_.Keep(std::move(*text)));
}

absl::Status Machine::Unicode() {
  const auto line = cursor_.Line();
  if (!line.ok()) return line.status();
  auto text = DecodeUnicodeEscape(*line);
  if (!text) return Bad("not escaped text");
  return PushText(ValueKind::kText, document_.Keep(std::move(*text)));
}

absl::Status Machine::Mark() {
  if (marks_.size() >= limits_.marks) return TooMuch("open containers");
  marks_.push_back(stack_.size());
  return absl::OkStatus();
}

absl::StatusOr<std::size_t> Machine::PopMark() {
  if (marks_.empty()) return Bad("no mark on the stack");
  const std::size_t from = marks_.back();
  marks_.pop_back();
  return from;
}

absl::Status Machine::Pop() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
    return absl::OkStatus();
  }
  if (const absl::Status enough = Need(1); !enough.ok()) return enough;
  stack_.pop_back();
  return absl::OkStatus();
}

absl::Status Machine::PopToMark() {
  const auto from = PopMark();
  if (!from.ok()) return from.status();
  stack_.resize(*from);
  return absl::OkStatus();
}

absl::Status Machine::Dup() {
  if (const absl::Status enough = Need(1); !enough.ok()) return enough;
  return Push(stack_.back());
}

absl::Status Machine::MoveItems(std::size_t from, Value* to) {
  links_ += stack_.size() - from;
  if (links_ > limits_.links) return TooMuch("items");
  to->items.insert(to->items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(from),
                   stack_.end());
  stack_.resize(from);
  return absl::OkStatus();
}

absl::Status Machine::Collect(std::size_t from, ValueKind kind) {
  if (kind == ValueKind::kDict && (stack_.size() - from) % 2 != 0) return Bad("a key has no value");
  const auto value = Make(kind);
  if (!value.ok()) return value.status();
  if (absl::Status moved = MoveItems(from, *value); !moved.ok()) return moved;
  return Push(*value);
}

absl::Status Machine::AddTo(std::size_t from, ValueKind kind) {
  const std::size_t fence = marks_.empty() ? 0 : marks_.back();
  if (from <= fence) return Bad("nothing to add to");
  Value* target = stack_[from - 1];
  if (target->kind != kind) return Bad("adds to a value of another type");
  if (kind == ValueKind::kDict && (stack_.size() - from) % 2 != 0) return Bad("a key has no value");
  return MoveItems(from, target);
}

absl::Status Machine::TupleOf(std::size_t count) {
  if (const absl::Status enough = Need(count); !enough.ok()) return enough;
  return Collect(stack_.size() - count, ValueKind::kList);
}

absl::Status Machine::Append() {
  if (const absl::Status enough = Need(2); !enough.ok()) return enough;
  return AddTo(stack_.size() - 1, ValueKind::kList);
}

absl::Status Machine::SetItem() {
  if (const absl::Status enough = Need(3); !enough.ok()) return enough;
  return AddTo(stack_.size() - 2, ValueKind::kDict);
}

absl::Status Machine::Remember(std::uint64_t index) {
  if (const absl::Status enough = Need(1); !enough.ok()) return enough;
  if (index > limits_.memo) return TooMuch("memo entries");
  memo_[static_cast<std::uint32_t>(index)] = stack_.back();
  return absl::OkStatus();
}

absl::Status Machine::Recall(std::uint64_t index) {
  const auto at =
      index > limits_.memo ? memo_.end() : memo_.find(static_cast<std::uint32_t>(index));
  return at == memo_.end() ? Bad("no such memo entry") : Push(at->second);
}

absl::Status Machine::Put() {
  const auto line = cursor_.Line();
  if (!line.ok()) return line.status();
  const auto number = DecodeDecimal(*line);
  if (!number || !number->integer || *number->integer < 0) return Bad("not a memo index");
  return Remember(static_cast<std::uint64_t>(*number->integer));
}

absl::Status Machine::Get() {
  const auto line = cursor_.Line();
  if (!line.ok()) return line.status();
  const auto number = DecodeDecimal(*line);
  if (!number || !number->integer || *number->integer < 0) return Bad("not a memo index");
  return Recall(static_cast<std::uint64_t>(*number->integer));
}

absl::Status Machine::Stop() {
  if (const absl::Status enough = Need(1); !enough.ok()) return enough;
  if (!marks_.empty()) return Bad("ends inside a container");
  document_.set_root(stack_.back());
  stopped_ = true;
  return absl::OkStatus();
}

std::array<Machine::Handler, 256> Machine::MakeHandlers() {
  using K = ValueKind;
  std::array<Handler, 256> h{};
  h['('] = &Machine::Mark, h['.'] = &Machine::Stop, h['0'] = &Machine::Pop;
  h['1'] = &Machine::PopToMark, h['2'] = &Machine::Dup, h['N'] = &Machine::Empty<K::kNone>;
  h['F'] = &Machine::Float, h['G'] = &Machine::BinFloat, h['I'] = &Machine::Int;
  h['L'] = &Machine::Long, h['J'] = &Machine::BinInt<4>, h['K'] = &Machine::BinInt<1>;
  h['M'] = &Machine::BinInt<2>, h[0x8a] = &Machine::BinLong<1>, h[0x8b] = &Machine::BinLong<4>;
  h[0x88] = &Machine::Bool<true>, h[0x89] = &Machine::Bool<false>;
  h['S'] = &Machine::String, h['V'] = &Machine::Unicode;
  h['T'] = &Machine::CountedText<4, K::kText>, h['U'] = &Machine::CountedText<1, K::kText>;
  h['X'] = &Machine::CountedText<4, K::kText>, h[0x8c] = &Machine::CountedText<1, K::kText>;
  h[0x8d] = &Machine::CountedText<8, K::kText>, h['B'] = &Machine::CountedText<4, K::kBytes>;
  h['C'] = &Machine::CountedText<1, K::kBytes>, h[0x8e] = &Machine::CountedText<8, K::kBytes>;
  h[0x96] = &Machine::CountedText<8, K::kBytes>;
  h[']'] = &Machine::Empty<K::kList>, h['}'] = &Machine::Empty<K::kDict>;
  h[')'] = &Machine::Empty<K::kList>, h[0x8f] = &Machine::Empty<K::kList>;
  h['l'] = &Machine::FromMark<K::kList>, h['t'] = &Machine::FromMark<K::kList>;
  h['d'] = &Machine::FromMark<K::kDict>, h[0x91] = &Machine::FromMark<K::kList>;
  h['a'] = &Machine::Append, h['s'] = &Machine::SetItem;
  h['e'] = &Machine::AddFromMark<K::kList>, h['u'] = &Machine::AddFromMark<K::kDict>;
  h[0x90] = &Machine::AddFromMark<K::kList>;
  h[0x85] = &Machine::Tuple<1>, h[0x86] = &Machine::Tuple<2>, h[0x87] = &Machine::Tuple<3>;
  h['p'] = &Machine::Put, h['q'] = &Machine::BinPut<1>, h['r'] = &Machine::BinPut<4>;
  h['g'] = &Machine::Get, h['h'] = &Machine::BinGet<1>, h['j'] = &Machine::BinGet<4>;
  h[0x94] = &Machine::Memoize;
  h[0x80] = &Machine::SkipOperand<1>, h[0x95] = &Machine::SkipOperand<8>;
  return h;
}

std::string_view Machine::ForbiddenName(std::uint8_t op) {
  switch (op) {
    case 'c':
      return "GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    case 0x81:
      return "NEWOBJ";
    case 0x82:
      return "EXT1";
    case 0x83:
      return "EXT2";
    case 0x84:
      return "EXT4";
    case 0x92:
      return "NEWOBJ_EX";
    case 0x93:
      return "STACK_GLOBAL";
    case 0x97:
      return "NEXT_BUFFER";
    case 0x98:
      return "READONLY_BUFFER";
    default:
      return "";
  }
}

absl::Status Machine::Step() {
  static const std::array<Handler, 256> kHandlers = MakeHandlers();
  op_at_ = cursor_.at();
  op_ = cursor_.Byte();
  if (const Handler handler = kHandlers[op_]) return (this->*handler)();
  const std::string_view name = ForbiddenName(op_);
  if (name.empty()) return Bad("not a pickle opcode");
  return Bad(absl::StrFormat("%s can run code and is refused", name));
}

// Closes what was open where the bytes ended: items after a mark go to the container before it.
void Machine::Salvage() {
  while (!stack_.empty()) {
    const std::size_t from = marks_.empty() ? 1 : marks_.back();
    if (!marks_.empty()) marks_.pop_back();
    const std::size_t fence = marks_.empty() ? 0 : marks_.back();
    if (from > fence && from <= stack_.size()) {
      Value* target = stack_[from - 1];
      const bool dict = target->kind == ValueKind::kDict;
      if (dict && (stack_.size() - from) % 2 != 0) stack_.pop_back();
      if (dict || target->kind == ValueKind::kList) (void)MoveItems(from, target);
    }
    if (from <= stack_.size()) stack_.resize(from);
    if (marks_.empty() && stack_.size() <= 1) break;
  }
  if (!stack_.empty()) document_.set_root(stack_.front());
}

absl::StatusOr<Unpickled> Machine::Run() {
  while (!cursor_.done() && !stopped_) {
    const absl::Status step = Step();
    if (absl::IsOutOfRange(step)) break;
    if (!step.ok()) return step;
  }
  if (stopped_) return Unpickled{};
  const std::size_t end = document_.bytes().size();
  Salvage();
  return Unpickled{end};
}

}  // namespace

absl::StatusOr<Unpickled> Unpickle(Document& document, const UnpickleLimits& limits) {
  return Machine(document, limits).Run();
}

bool LooksLikePickle(std::string_view head) {
  // Protocol 2 and later open with PROTO; 0 and 1 with the dict itself.
  if (head.size() >= 3 && head[0] == '\x80') {
    const auto protocol = static_cast<unsigned char>(head[1]);
    return protocol >= 2 && protocol <= 5 && (head[2] == '}' || head[2] == '\x95');
  }
  return head.substr(0, 2) == "}q" || head.substr(0, 3) == "(dp" || head.substr(0, 2) == "}(";
}

}  // namespace fathom::collector::flight_recorder
