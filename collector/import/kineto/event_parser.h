// One event, and the texts around the events, out of simdjson's on-demand values.
//
// Used by TraceReader only: the one place, beside it, that sees simdjson.
//
// Thread-safety: functions without state. Errors: false, or a header field left as it was; nothing
// here throws.
// Cost: hot path, no allocation for events.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_EVENT_PARSER_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_EVENT_PARSER_H_

#include <simdjson.h>

#include <cstdint>
#include <string_view>

#include "collector/import/kineto/trace_event.h"

namespace fathom::collector::kineto {

// The scalar fields of an event. False: not an object, or broken.
bool ParseEvent(simdjson::ondemand::object& object, TraceEvent& event);

// The args of the event just parsed. False: broken. No args is no error.
bool ParseArgs(simdjson::ondemand::object& object, EventArgs& args);

// Fields of the top level, `traceEvents` excepted, into the header. False: broken, as far as read.
bool ParseHeader(simdjson::ondemand::object& object, TraceHeader& header);
bool ParseHeaderField(std::string_view key, simdjson::ondemand::value value, TraceHeader& header);

// "4389833215042.254" → 4389833215042254. False: not a number, or beyond 64 bits.
bool ParseMicroseconds(std::string_view token, std::int64_t& ns);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_EVENT_PARSER_H_
