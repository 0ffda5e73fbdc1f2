// Finds the real function behind an interposed name.
//
// Used by the shims of daemon/tracer/interpose/*.
//
// Model: the libraries we interpose are often loaded with local scope, where RTLD_NEXT sees
// nothing. So a name is looked for, in this order,
//   1. behind us in the global scope (RTLD_NEXT): another preloaded interposer, or a program that
//      links the library;
//   2. in the scope of the object that called us (dladdr of the return address, dlopen NOLOAD);
//   3. in every object of the process, one by one.
// What is ourselves, or what the global scope answers first (an interposer before us, which would
// call us back), is never taken. The answer is kept; the library is thereby pinned.
// If nothing is found nobody could have called the name without us, except by probing for it with
// dlsym: the shim then returns an empty value, and DropReason::kSymbolMissing is counted.
// Thread-safety: thread-safe; two threads that come first find the same. Errors: null.
// Cost: one load once known; the first call is cold (locks of the loader, no heap of our own).
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_REAL_SYMBOL_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_REAL_SYMBOL_H_

#include <atomic>

namespace fathom::tracer {

// One interposed name. Static storage; `found` is null until it is looked for.
struct RealSymbol {
  const char* name;
  std::atomic<void*> found;
};

// Looks for `symbol` on behalf of the code at `caller`. Null if it cannot be found. Preserves
// errno.
void* FindReal(RealSymbol* symbol, void* caller);

inline void* Real(RealSymbol* symbol, void* caller) {
  void* found = symbol->found.load(std::memory_order_acquire);
  return found != nullptr ? found : FindReal(symbol, caller);
}

// Keeps the object that holds `address` mapped to the end: a wrapper calls it whenever it is
// called.
void KeepMapped(void* address);

// Looks for `name` in the object that holds `address`, without interposition. Null if not there.
void* FindBeside(void* address, const char* name);

// Where the loader looks first. The caller's own scope holds for names with a version, which only
// the right library has, and of which dlsym knows nothing (libcudart's).
enum class FirstScope { kCallers, kGlobal };

// Looks for `name` as the code at `caller` would be bound to it. For a name that more than one
// library of the process may define. A null `caller` has no scope. Null if it cannot be found.
void* FindForCaller(const char* name, void* caller, FirstScope first);

// Counts that a name could not be found which should be there.
void CountMissing();

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_REAL_SYMBOL_H_
