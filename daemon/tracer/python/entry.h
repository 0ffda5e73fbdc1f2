// What libfathom.so exports for its own Python hook, which calls it through ctypes.
//
// Loaded by library.py of daemon/tracer/python/fathom_site/fathom_python, called by the modules
// beside it, and by nobody else.
// Strings are NUL-ended UTF-8 and only need to live until the group is made. Thread-safety:
// thread-safe; begin and end of a group are on the thread that makes it.
// Errors: none are reported; what cannot be done is counted or left out. Cost: see marks.h.
#ifndef FATHOM_DAEMON_TRACER_PYTHON_ENTRY_H_
#define FATHOM_DAEMON_TRACER_PYTHON_ENTRY_H_

#include <cstdint>

#define FATHOM_EXPORT __attribute__((visibility("default")))

extern "C" {

// Version of this interface; the hook does nothing with one it does not know.
int fathom_python_version(void);

// Turns the tracer on (core/activation.h): this process is about to be a rank of a job.
void fathom_start(void);

// A step of an optimizer that updates so many bytes has ended (core/steps.h). It turns the tracer
// on where no launcher tells of other ranks.
void fathom_step(std::uint64_t bytes);

// Announces the groups that this thread makes until fathom_group_end. No members: all ranks.
void fathom_group_begin(const char* name, const char* description, const std::uint32_t* members,
                        std::uint32_t member_count);
void fathom_group_end(void);

// Marks of abi::MarkKind; see core/marks.h. begin returns the pair that end takes.
std::uint64_t fathom_mark_begin(std::uint64_t kind, std::uint64_t value);
void fathom_mark_end(std::uint64_t kind, std::uint64_t value, std::uint64_t pair);
void fathom_mark_span(std::uint64_t begin_kind, std::int64_t begin_ns, std::uint64_t begin_value,
                      std::uint64_t end_kind, std::uint64_t end_value);

// The number of a function for marks of kind kFunctionBegin and kFunctionEnd; ~0: no room.
std::uint32_t fathom_function(const char* name);

// A new reference to a builtin function of this process's Python, null where that cannot be made.
// Python's lock must be held. `which`: 0 calls its first argument with the tuple and the dictionary
// that follow, and times that as `function`; 1, 2 begin and end a call of `function`, whatever the
// arguments; 3, 4 the callbacks of sys.monitoring for PY_START and PY_RETURN (`function` does not
// count); 5 makes of a type, a method of it that is written in C and takes no arguments, and its
// name another such method of that type, which times the first as `function`; None: there is one.
void* fathom_python_builtin(std::uint32_t which, std::uint32_t function);
// Lets these callbacks time the code object at `code`, which must stay. 0: no room.
int fathom_python_watch(const void* code, std::uint32_t function);

}  // extern "C"

#endif  // FATHOM_DAEMON_TRACER_PYTHON_ENTRY_H_
