// One event, and the texts around the events, out of simdjson's on-demand values.
//
// Used by TraceReader only: the one place, beside it, that sees simdjson.
//
// Thread-safety: an EventParser belongs to one thread; the functions have no state. Errors: false,
// or a header field left as it was; nothing here throws. Cost: hot path, no allocation for events.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_EVENT_PARSER_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_EVENT_PARSER_H_

#include <simdjson.h>

#include <cstdint>
#include <string_view>

#include "collector/import/kineto/trace/trace_event.h"
#include "collector/import/kineto/trace/trace_reader.h"

namespace fathom::collector::kineto {

// Reads one event after the other. The args are read in the same pass where they follow what the
// sink decides by, as in all that Kineto writes; else in a second one.
class EventParser {
 public:
  // `sink` outlives the parser; it is only asked whether it wants the args.
  explicit EventParser(TraceSink& sink) : sink_(sink) {}

  // False: not an object, or broken.
  bool Parse(simdjson::ondemand::object& object);

  // Of the last one; args that were not wanted are absent.
  const TraceEvent& event() const { return event_; }
  const EventArgs& args() const { return args_; }

 private:
  void ReadField(const char* key, std::string_view token);
  [[nodiscard]] bool ReadArgs(simdjson::ondemand::value& from);
  [[nodiscard]] bool ReadArgsAgain(simdjson::ondemand::object& from);

  TraceSink& sink_;
  TraceEvent event_;
  EventArgs args_;
  bool args_read_ = false;
};

// Fields of the top level, `traceEvents` excepted, into the header. False: broken, as far as read.
bool ParseHeader(simdjson::ondemand::object& object, TraceHeader& header);
[[nodiscard]] bool ParseHeaderField(std::string_view key, simdjson::ondemand::value value,
                                    TraceHeader& header);

// "4389833215042.254" → 4389833215042254. False: not a number, or beyond 64 bits.
bool ParseMicroseconds(std::string_view token, std::int64_t& ns);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_EVENT_PARSER_H_
