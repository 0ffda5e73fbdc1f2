// Builtin functions of the Python that has this process, made of function_timer.h without knowing
// any Python at build time: its functions are looked up by name when the hook asks for a builtin.
#include <dlfcn.h>

#include <atomic>

#include "daemon/abi/ring_layout.h"
#include "daemon/tracer/python/entry.h"
#include "daemon/tracer/python/function_timer.h"

namespace fathom::tracer::python {
namespace {

using Object = void;  // PyObject

// PyMethodDef: part of Python's stable ABI, as are the flags and the functions below.
struct MethodDef {
  const char* name;
  void* call;
  int flags;
  const char* doc;
};
constexpr int kFastCall = 0x80;  // METH_FASTCALL

struct PythonApi {
  Object* (*new_builtin)(MethodDef*, Object* self, Object* module);  // PyCFunction_NewEx
  Object* (*new_int)(unsigned long);                                 // PyLong_FromUnsignedLong
  unsigned long (*int_value)(Object*);                               // PyLong_AsUnsignedLong
  void (*take)(Object*);                                             // Py_IncRef
  void (*drop)(Object*);                                             // Py_DecRef
  Object* (*call)(Object* callable, Object* args, Object* kwargs);   // PyObject_Call
  Object* none;
};
constinit PythonApi api = {};  // written with Python's lock held, before the first builtin

// A code object that is watched; `code` is written last.
struct Watched {
  std::atomic<const void*> code;
  std::uint32_t function;
};
constinit Watched watched[abi::kFunctionNames] = {};

template <typename T>
bool Find(const char* name, T* out) {
  *out = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
  return *out != nullptr;
}

bool FindPython() {
  if (api.none != nullptr) return true;
  return Find("PyCFunction_NewEx", &api.new_builtin) &&
         Find("PyLong_FromUnsignedLong", &api.new_int) &&
         Find("PyLong_AsUnsignedLong", &api.int_value) && Find("Py_IncRef", &api.take) &&
         Find("Py_DecRef", &api.drop) && Find("PyObject_Call", &api.call) &&
         Find("_Py_NoneStruct", &api.none);
}

Object* None() {
  api.take(api.none);
  return api.none;
}

std::uint32_t Number(Object* self) { return static_cast<std::uint32_t>(api.int_value(self)); }

// `self` is the function's number; the arguments are the callable, its tuple and its dictionary.
Object* Call(Object* self, Object* const* arguments, long count) {
  if (count != 3) return None();
  const std::uint32_t function = Number(self);
  Enter(function);
  Object* result = api.call(arguments[0], arguments[1], arguments[2]);
  Leave(function);
  return result;
}
Object* Begin(Object* self, Object* const*, long) {
  Restart(Number(self));
  return None();
}
Object* End(Object* self, Object* const*, long) {
  Finish(Number(self));
  return None();
}

// The arguments of sys.monitoring's callbacks begin with the code object.
const Watched* WatchedOf(Object* const* arguments, long count) {
  for (const Watched& one : watched) {
    const void* code = one.code.load(std::memory_order_acquire);
    if (code == nullptr || count < 1) return nullptr;
    if (code == arguments[0]) return &one;
  }
  return nullptr;
}
Object* OnStart(Object*, Object* const* arguments, long count) {
  if (const Watched* one = WatchedOf(arguments, count); one != nullptr) Restart(one->function);
  return None();
}
Object* OnReturn(Object*, Object* const* arguments, long count) {
  if (const Watched* one = WatchedOf(arguments, count); one != nullptr) Finish(one->function);
  return None();
}

MethodDef methods[] = {
    {"call", reinterpret_cast<void*>(&Call), kFastCall, nullptr},
    {"begin", reinterpret_cast<void*>(&Begin), kFastCall, nullptr},
    {"end", reinterpret_cast<void*>(&End), kFastCall, nullptr},
    {"on_start", reinterpret_cast<void*>(&OnStart), kFastCall, nullptr},
    {"on_return", reinterpret_cast<void*>(&OnReturn), kFastCall, nullptr},
};
constexpr std::uint32_t kMethods = sizeof(methods) / sizeof(methods[0]);

}  // namespace
}  // namespace fathom::tracer::python

namespace python = fathom::tracer::python;

FATHOM_EXPORT void* fathom_python_builtin(std::uint32_t which, std::uint32_t function) {
  if (which >= python::kMethods || function >= fathom::abi::kFunctionNames) return nullptr;
  if (!python::FindPython()) return nullptr;
  void* self = python::api.new_int(function);
  if (self == nullptr) return nullptr;
  void* made = python::api.new_builtin(&python::methods[which], self, nullptr);
  python::api.drop(self);
  return made;
}

FATHOM_EXPORT int fathom_python_watch(const void* code, std::uint32_t function) {
  if (function >= fathom::abi::kFunctionNames) return 0;
  for (python::Watched& one : python::watched) {
    if (one.code.load(std::memory_order_relaxed) != nullptr) continue;
    one.function = function;
    one.code.store(code, std::memory_order_release);
    return 1;
  }
  return 0;
}
