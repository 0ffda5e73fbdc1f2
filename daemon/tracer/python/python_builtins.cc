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
constexpr int kFastCall = 0x80;     // METH_FASTCALL
constexpr int kNoArguments = 0x04;  // METH_NOARGS

struct PythonApi {
  Object* (*new_builtin)(MethodDef*, Object* self, Object* module);  // PyCFunction_NewEx
  Object* (*new_int)(unsigned long);                                 // PyLong_FromUnsignedLong
  unsigned long (*int_value)(Object*);                               // PyLong_AsUnsignedLong
  void (*take)(Object*);                                             // Py_IncRef
  void (*drop)(Object*);                                             // Py_DecRef
  Object* (*call)(Object* callable, Object* args, Object* kwargs);   // PyObject_Call
  Object* (*call_with)(Object* callable, ...);                       // PyObject_CallFunctionObjArgs
  Object* (*new_method)(Object* type, MethodDef*);                   // PyDescr_NewMethod
  const char* (*text)(Object*);                                      // PyUnicode_AsUTF8
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
         Find("PyObject_CallFunctionObjArgs", &api.call_with) &&
         Find("PyDescr_NewMethod", &api.new_method) && Find("PyUnicode_AsUTF8", &api.text) &&
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

// A method without arguments that another one stands for: as both are written in C, what warns in
// it finds the same caller. One is enough (Tensor.item); a builtin of its own cannot know which it
// is.
struct Method {
  Object* real;  // null: there is none yet
  std::uint32_t function;
  MethodDef definition;
};
constinit Method method = {};

Object* CallMethod(Object* self, Object*) {
  Enter(method.function);
  Object* result = api.call_with(method.real, self, nullptr);
  Leave(method.function);
  return result;
}

// The arguments are the type that has the method, the method, and its name. Both stay.
Object* MakeMethod(Object* self, Object* const* arguments, long count) {
  if (count != 3 || method.real != nullptr) return None();
  method.definition = {api.text(arguments[2]), reinterpret_cast<void*>(&CallMethod), kNoArguments,
                       nullptr};
  method.function = Number(self);
  api.take(arguments[1]);
  api.take(arguments[2]);
  method.real = arguments[1];
  return api.new_method(arguments[0], &method.definition);
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
    {"method", reinterpret_cast<void*>(&MakeMethod), kFastCall, nullptr},
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
