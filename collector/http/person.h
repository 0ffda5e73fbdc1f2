// Who asks, and what they may do.
//
// Made by Login; asked for by whoever answers a request. Thread-safety: plain values.
#ifndef FATHOM_COLLECTOR_HTTP_PERSON_H_
#define FATHOM_COLLECTOR_HTTP_PERSON_H_

#include <cstdint>
#include <string>

namespace fathom::collector {

// In order of rights.
enum class Role : std::uint8_t { kNobody, kViewer, kOperator };

struct Person {
  std::string name;  // empty: not signed in
  Role role = Role::kNobody;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_HTTP_PERSON_H_
