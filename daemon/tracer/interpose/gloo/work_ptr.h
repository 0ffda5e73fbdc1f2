// The value a c10d call returns, c10::intrusive_ptr<Work>, as far as a shim needs it: one pointer,
// returned through hidden memory.
//
// Used by op_shims.cc. It is not trivially copyable, so the Itanium C++ ABI returns it as it does
// the real one; it neither counts nor releases references, because a shim only hands the value on.
// Ownership: the reference belongs to whoever the value is returned to.
// Thread-safety: values.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_WORK_PTR_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_WORK_PTR_H_

#include <cstdint>

namespace fathom::tracer {

class WorkPtr {
 public:
  WorkPtr() {}
  WorkPtr(WorkPtr&& other) noexcept : target_(other.target_) { other.target_ = nullptr; }
  WorkPtr& operator=(WorkPtr&&) = delete;
  ~WorkPtr() {}

  // Address of the Work; 0 if there is none.
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(target_); }

 private:
  void* target_ = nullptr;
};
static_assert(sizeof(WorkPtr) == sizeof(void*));

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_WORK_PTR_H_
