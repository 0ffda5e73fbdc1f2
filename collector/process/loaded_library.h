// A shared library that is loaded when it is first needed, not with the program.
//
// Used for what few commands of `fathom` need: libarchive and OpenSSL bring a dozen libraries with
// them, and a third of what the start of the program would cost (docs/design/0010-quick-start.md).
//
// Model: Open() by the name that the linker would have written down (its soname), then one Find() a
// function, with the type that the library's own header declares. The library is never unloaded.
//
// Thread-safety: thread-compatible. Errors: Unavailable with the loader's words, from status():
// look at it once, after the last Find().
#ifndef FATHOM_COLLECTOR_PROCESS_LOADED_LIBRARY_H_
#define FATHOM_COLLECTOR_PROCESS_LOADED_LIBRARY_H_

#include <dlfcn.h>

#include <string>

#include "absl/status/status.h"

namespace fathom::collector {

class LoadedLibrary {
 public:
  explicit LoadedLibrary(const char* soname) : handle_(dlopen(soname, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) Fail();
  }

  template <typename Function>
  void Find(const char* name, Function*& function) {
    if (handle_ == nullptr) return;
    function = reinterpret_cast<Function*>(dlsym(handle_, name));
    if (function == nullptr) Fail();
  }

  const absl::Status& status() const { return status_; }

 private:
  void Fail() {
    const char* why = dlerror();
    status_.Update(absl::UnavailableError(why == nullptr ? "a library cannot be loaded" : why));
  }

  void* const handle_;
  absl::Status status_;
};

}  // namespace fathom::collector

#endif  // FATHOM_COLLECTOR_PROCESS_LOADED_LIBRARY_H_
