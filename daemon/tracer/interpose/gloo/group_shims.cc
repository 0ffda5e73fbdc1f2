// Where a job makes and drops a c10d::ProcessGroupGloo. Making one turns the tracer on.
#include "daemon/tracer/core/activation.h"
#include "daemon/tracer/core/group_table.h"
#include "daemon/tracer/interpose/gloo/buffer_size.h"
#include "daemon/tracer/interpose/gloo/symbols.h"
#include "daemon/tracer/interpose/real_symbol.h"

namespace fathom::tracer {
namespace {

using MakeFunction = void (*)(void*, const void*, int, int, void*);
using DropFunction = void (*)(void*);

// The group is told once it stands: a constructor that throws leaves no slot.
void Make(void* real, void* self, const void* store, int rank, int size, void* options) {
  if (real == nullptr) return;
  TracerState* state = Activate();
  if (state != nullptr) ResolveTensorFunctions(real);
  reinterpret_cast<MakeFunction>(real)(self, store, rank, size, options);
  if (ActiveState(abi::kSourceGloo) != state || state == nullptr) return;
  AddGroup(*state, abi::kSourceGloo, reinterpret_cast<std::uint64_t>(self),
           static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(size),
           thread_state.pending);
}

void Drop(void* real, void* self) {
  TracerState* state = ActiveState(abi::kSourceGloo);
  if (state != nullptr) RemoveGroup(*state, reinterpret_cast<std::uint64_t>(self));
  if (real != nullptr) reinterpret_cast<DropFunction>(real)(self);
}

}  // namespace

#define FATHOM_MAKE(name, symbol)                                                     \
  __attribute__((visibility("default"))) void name(void*, const void*, int, int,      \
                                                   void*) __asm__(symbol);            \
  void name(void* self, const void* store, int rank, int size, void* options) {       \
    static constinit RealSymbol real{symbol, nullptr};                                \
    Make(Real(&real, __builtin_return_address(0)), self, store, rank, size, options); \
  }
#define FATHOM_DROP(name, symbol)                                          \
  __attribute__((visibility("default"))) void name(void*) __asm__(symbol); \
  void name(void* self) {                                                  \
    static constinit RealSymbol real{symbol, nullptr};                     \
    Drop(Real(&real, __builtin_return_address(0)), self);                  \
  }

FATHOM_MAKE(MakeGroup, FATHOM_GLOO_GROUP_C1)
FATHOM_MAKE(MakeGroupBase, FATHOM_GLOO_GROUP_C2)
FATHOM_DROP(DropGroup, FATHOM_GLOO_GROUP_D1)
FATHOM_DROP(DropGroupBase, FATHOM_GLOO_GROUP_D2)

}  // namespace fathom::tracer
