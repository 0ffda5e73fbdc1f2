// Something a person or another program should hear of, before it has a wire shape.
//
// Made by the collector for verdicts and by fathom-cordon for actions; turned into a request by
// notify/shapes.h and sent by notify/delivery.h.
// Units: wall time. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_NOTIFY_NOTICE_H_
#define FATHOM_COLLECTOR_NOTIFY_NOTICE_H_

#include <cstdint>
#include <map>
#include <string>

#include "proto/types/time_units.h"

namespace fathom::collector {

enum class Severity : std::uint8_t { kInfo, kWarning, kCritical };

struct Notice {
  std::string key;    // of the episode: what has the same key is the same matter
  std::string title;  // alert name, CamelCase
  // What is worth a message of its own when it changes: of whom it speaks, and how surely.
  std::string matter;
  Severity severity = Severity::kInfo;
  std::string summary;                        // one sentence
  std::string description;                    // more of them
  std::map<std::string, std::string> labels;  // bounded: job, cause, node, …
  std::string link;                           // where to look
  std::string runbook;                        // URL: what to do about it; empty: none
  std::string thread;                         // at the receiver it is kept for; empty: none
  WallNs began;
  WallNs over;  // not known: it goes on
  bool active() const { return !over.known(); }
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_NOTIFY_NOTICE_H_
