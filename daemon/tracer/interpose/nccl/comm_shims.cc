// Where a job makes and ends NCCL's communicators. Making one turns the tracer on.
#include "daemon/tracer/core/activation.h"
#include "daemon/tracer/interpose/caller_binding.h"
#include "daemon/tracer/interpose/nccl/awaited.h"
#include "daemon/tracer/interpose/nccl/communicators.h"
#include "daemon/tracer/interpose/nccl/group_depth.h"
#include "daemon/tracer/nccl_plugin/contexts.h"

namespace fathom::tracer::nccl {
namespace {

#define FATHOM_EXPORT extern "C" __attribute__((visibility("default")))

// One copy for all shims here: making a communicator takes long.
[[gnu::noinline]] void* Library(CallerBinding* binding, const char* name, void* caller) {
  return BoundFor(binding, name, caller, FirstScope::kGlobal);
}

// The tracer, if NCCL is to be traced. Communicators stay known while the source is silenced.
TracerState* Begin() {
  TracerState* state = Activate();
  if (state == nullptr) return nullptr;
  state = OnState();
  if (state == nullptr || (state->sources & abi::kSourceNccl) == 0) return nullptr;
  nccl_plugin::BeginMaking();
  return state;
}

bool Accepted(int result) { return result == kSuccess || result == kInProgress; }

// By the function `real`. `parent` is null where there is none.
void Made(TracerState* state, void* real, int result, Comm* made, Comm parent, Birth birth) {
  if (state == nullptr || made == nullptr) return;
  if (!Accepted(result)) return;
  birth.library = real;
  const bool in_group = group_depth.depth > 0;
  if (in_group) group_depth.made_communicators = true;
  Comm comm = __atomic_load_n(made, __ATOMIC_ACQUIRE);
  if (comm != nullptr) {
    NoteMade(*state, comm, birth, result == kSuccess && !in_group);
  } else if (in_group || (parent != nullptr && result == kInProgress)) {
    Await(*state, made, parent, in_group, birth);
  }
}

Birth BornFrom(const UniqueId* ids, int id_count, int size, int rank, const NcclConfig* config) {
  Birth birth;
  const bool told = ids != nullptr && id_count > 0 && size > 0 && rank >= 0;
  if (!told) return birth;
  birth.identity =
      IdentityHash().Add(ids, sizeof(UniqueId) * static_cast<std::size_t>(id_count)).value();
  birth.size = static_cast<std::uint32_t>(size);
  birth.rank = static_cast<std::uint32_t>(rank);
  birth.user_name = NameOf(config);
  return birth;
}

// All members of the parent call this in the same order, those without a colour too.
Birth ChildOf(TracerState* state, Comm parent, const void* what, std::size_t bytes,
              const NcclConfig* config) {
  Birth birth;
  if (state == nullptr) return birth;
  const std::uint32_t nth = DrawChild(*state, parent);
  birth.user_name = NameOf(config);
  const std::uint64_t identity = IdentityOf(*state, parent);
  if (identity != 0)
    birth.identity = IdentityHash().Add(identity).Add(nth).Add(what, bytes).value();
  return birth;
}

// What `comm` had in flight is so no more, now that the call is over that ends it.
void Stopped(Comm comm, Standing standing) {
  TracerState* state = OnState();
  if (state != nullptr) NoteStopped(*state, reinterpret_cast<std::uint64_t>(comm), standing);
}

// The end of a communicator. It is forgotten first: its address may be given to the next at once.
// `flushed`: whether a result says that nothing is in flight any more.
int End(CallerBinding* binding, const char* name, void* caller, Comm comm, bool (*flushed)(int)) {
  void* real = Library(binding, name, caller);
  if (real == nullptr) return kInternalError;
  if (TracerState* state = OnState(); state != nullptr) {
    NoteGone(*state, comm);
    if (AnyAwaited()) ForgetAwaitedOf(*state, comm);
  }
  const int result = reinterpret_cast<int (*)(Comm)>(real)(comm);
  if (flushed(result)) Stopped(comm, Standing::kGone);
  return result;
}

}  // namespace

FATHOM_EXPORT int ncclCommInitRank(Comm* comm, int size, UniqueId id, int rank) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommInitRank", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  TracerState* state = Begin();
  const int result =
      reinterpret_cast<int (*)(Comm*, int, UniqueId, int)>(real)(comm, size, id, rank);
  Made(state, real, result, comm, nullptr, BornFrom(&id, 1, size, rank, nullptr));
  return result;
}

FATHOM_EXPORT int ncclCommInitRankConfig(Comm* comm, int size, UniqueId id, int rank,
                                         NcclConfig* config) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommInitRankConfig", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  TracerState* state = Begin();
  const int result = reinterpret_cast<int (*)(Comm*, int, UniqueId, int, NcclConfig*)>(real)(
      comm, size, id, rank, config);
  Made(state, real, result, comm, nullptr, BornFrom(&id, 1, size, rank, config));
  return result;
}

FATHOM_EXPORT int ncclCommInitRankScalable(Comm* comm, int size, int rank, int id_count,
                                           UniqueId* ids, NcclConfig* config) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommInitRankScalable", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  TracerState* state = Begin();
  const Birth birth = BornFrom(ids, id_count, size, rank, config);
  const int result = reinterpret_cast<int (*)(Comm*, int, int, int, UniqueId*, NcclConfig*)>(real)(
      comm, size, rank, id_count, ids, config);
  Made(state, real, result, comm, nullptr, birth);
  return result;
}

// The id of this clique is the library's own and is not told: its members are all in this process.
FATHOM_EXPORT int ncclCommInitAll(Comm* comms, int count, const int* devices) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommInitAll", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  TracerState* state = Begin();
  const int result = reinterpret_cast<int (*)(Comm*, int, const int*)>(real)(comms, count, devices);
  for (int i = 0; comms != nullptr && i < count; ++i) {
    Birth birth;
    birth.size = static_cast<std::uint32_t>(count);
    birth.rank = static_cast<std::uint32_t>(i);
    Made(state, real, result, &comms[i], nullptr, birth);
  }
  return result;
}

FATHOM_EXPORT int ncclCommSplit(Comm comm, int color, int key, Comm* made, NcclConfig* config) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommSplit", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  TracerState* state = Begin();
  const Birth birth = ChildOf(state, comm, &color, sizeof(color), config);
  const int result = reinterpret_cast<int (*)(Comm, int, int, Comm*, NcclConfig*)>(real)(
      comm, color, key, made, config);
  if (color != kNoColor) Made(state, real, result, made, comm, birth);
  return result;
}

FATHOM_EXPORT int ncclCommShrink(Comm comm, int* excluded, int excluded_count, Comm* made,
                                 NcclConfig* config, int flags) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommShrink", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  TracerState* state = Begin();
  const std::size_t listed =
      excluded == nullptr || excluded_count < 0 ? 0 : static_cast<std::size_t>(excluded_count);
  const Birth birth = ChildOf(state, comm, excluded, listed * sizeof(int), config);
  const int result = reinterpret_cast<int (*)(Comm, int*, int, Comm*, NcclConfig*, int)>(real)(
      comm, excluded, excluded_count, made, config, flags);
  if ((flags & kShrinkAbort) != 0 && Accepted(result)) Stopped(comm, Standing::kLive);
  Made(state, real, result, made, comm, birth);
  return result;
}

// No value is known to old and new members alike: no identity.
FATHOM_EXPORT int ncclCommGrow(Comm comm, int size, const UniqueId* id, int rank, Comm* made,
                               NcclConfig* config) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommGrow", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  TracerState* state = Begin();
  Birth birth;
  birth.user_name = NameOf(config);
  const int result = reinterpret_cast<int (*)(Comm, int, const UniqueId*, int, Comm*, NcclConfig*)>(
      real)(comm, size, id, rank, made, config);
  Made(state, real, result, made, comm, birth);
  return result;
}

FATHOM_EXPORT int ncclCommDestroy(Comm comm) {
  static constinit CallerBinding binding;
  return End(&binding, "ncclCommDestroy", __builtin_return_address(0), comm, Accepted);
}

FATHOM_EXPORT int ncclCommAbort(Comm comm) {
  static constinit CallerBinding binding;
  return End(&binding, "ncclCommAbort", __builtin_return_address(0), comm, Accepted);
}

// After this the communicator carries nothing more, but is still asked and destroyed. With blocking
// = 0 what is in flight goes on when the call is over.
FATHOM_EXPORT int ncclCommFinalize(Comm comm) {
  static constinit CallerBinding binding;
  return End(&binding, "ncclCommFinalize", __builtin_return_address(0), comm,
             [](int result) { return result == kSuccess; });
}

// Stops what is in flight: of that nothing more will be told, and no op comes after it. Children
// may still be made of it.
FATHOM_EXPORT int ncclCommRevoke(Comm comm, int flags) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommRevoke", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  const int result = reinterpret_cast<int (*)(Comm, int)>(real)(comm, flags);
  TracerState* state = Accepted(result) ? OnState() : nullptr;
  if (state == nullptr) return result;
  NoteRevoked(*state, comm);
  Stopped(comm, Standing::kGone);
  return result;
}

// How a host learns that a communicator with blocking = 0 is ready: so do we.
FATHOM_EXPORT int ncclCommGetAsyncError(Comm comm, int* error) {
  static constinit CallerBinding binding;
  void* real = Library(&binding, "ncclCommGetAsyncError", __builtin_return_address(0));
  if (real == nullptr) return kInternalError;
  const int result = reinterpret_cast<int (*)(Comm, int*)>(real)(comm, error);
  if (result != kSuccess || error == nullptr || *error != kSuccess) return result;
  TracerState* state = OnState();
  if (state == nullptr) return result;
  if (WaitsToBeAsked(*state, comm)) AnnounceReady(*state, comm);
  if (AnyAwaited()) TakeAwaitedOf(*state, comm);
  return result;
}

}  // namespace fathom::tracer::nccl
