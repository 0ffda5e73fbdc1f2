// A tree of plain values read from a pickle or a JSON file: what both readers give.
//
// Used only inside collector/import/flight_recorder. Model: a Document owns all nodes; a Value is
// looked at through pointers that live as long as the Document, and text points into the bytes it
// was read from, which the Document keeps. Nodes may be shared, and a hostile pickle can even make
// them contain themselves: walk to a fixed depth, never to the leaves.
//
// Thread-safety: build, then only read. Errors: accessors give nullopt on another type.
#ifndef FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_VALUE_H_
#define FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_VALUE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::collector::flight_recorder {

enum class ValueKind : std::uint8_t { kNone, kBool, kInteger, kReal, kText, kBytes, kList, kDict };

class Value {
 public:
  ValueKind kind = ValueKind::kNone;
  std::int64_t integer = 0;  // also 0 or 1 for kBool
  double real = 0;
  std::string_view text;            // kText, kBytes
  std::vector<const Value*> items;  // kList: items (also tuples, sets); kDict: key, value, key, …

  std::optional<std::int64_t> Integer() const;
  std::optional<bool> Bool() const;
  std::optional<std::string_view> Text() const;
  // Items of a list; empty on another kind.
  const std::vector<const Value*>& Items() const;
  // The value of `key` in a dict; the last one wins, as in Python. Null if there is none.
  const Value* Find(std::string_view key) const;
};

class Document {
 public:
  explicit Document(std::string bytes) : bytes_(std::move(bytes)) {}
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  std::string_view bytes() const { return bytes_; }
  std::size_t size() const { return values_.size(); }
  const Value* root() const { return root_; }
  void set_root(const Value* root) { root_ = root; }

  Value* Add(ValueKind kind);
  std::string_view Keep(std::string text);  // text that is not a part of bytes()

 private:
  std::string bytes_;
  std::deque<Value> values_;
  std::deque<std::string> texts_;
  const Value* root_ = nullptr;
};

}  // namespace fathom::collector::flight_recorder

#endif  // FATHOM_COLLECTOR_IMPORT_FLIGHT_RECORDER_VALUE_H_
