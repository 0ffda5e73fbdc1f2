#include "tests/fakes/nccl/faults.h"

#include <stdio.h>
#include <stdlib.h>

namespace fakes::nccl {

int Process() {
  const char* rank = getenv("RANK");
  return rank == nullptr ? 0 : atoi(rank);
}

const Fault& SlowLink() {
  static const Fault fault = [] {
    Fault f;
    const char* text = getenv("FAKE_NCCL_SLOW_LINK");
    unsigned long after = 0;
    if (text != nullptr &&
        sscanf(text, "%d:%d:%d:%lu", &f.first, &f.second, &f.factor, &after) != 4) {
      f = Fault{};
    }
    f.after = after;
    return f;
  }();
  return fault;
}

const Fault& Stuck() {
  static const Fault fault = [] {
    Fault f;
    const char* text = getenv("FAKE_NCCL_STUCK");
    unsigned long after = 0;
    if (text != nullptr && sscanf(text, "%d:%lu", &f.first, &after) != 2) f = Fault{};
    f.after = after;
    return f;
  }();
  return fault;
}

const Fault& StuckLink() {
  static const Fault fault = [] {
    Fault f;
    const char* text = getenv("FAKE_NCCL_STUCK_LINK");
    unsigned long after = 0;
    if (text != nullptr && sscanf(text, "%d:%d:%lu", &f.first, &f.second, &after) != 3) f = Fault{};
    f.after = after;
    return f;
  }();
  return fault;
}

bool OverNetwork() {
  static const bool set = getenv("FAKE_NCCL_NET") != nullptr;
  return set;
}

}  // namespace fakes::nccl
