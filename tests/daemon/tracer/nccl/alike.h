// Whether two functions can be called for one another: as far as the calling convention can tell
// their parameters apart.
//
// Used by signatures.cc and real_profiler_abi.cc. Thread-safety: constants.
#ifndef FATHOM_TESTS_DAEMON_TRACER_NCCL_ALIKE_H_
#define FATHOM_TESTS_DAEMON_TRACER_NCCL_ALIKE_H_

#include <type_traits>

namespace fathom::tracer_test {

template <typename T>
constexpr bool kIsNumber = std::is_integral_v<T> || std::is_enum_v<T>;

// Two parameters travel alike: both pointers, or both whole numbers of one size, or both structures
// of one size.
template <typename A, typename B>
constexpr bool kAlike = [] {
  if constexpr (std::is_pointer_v<A> || std::is_pointer_v<B>) {
    return std::is_pointer_v<A> && std::is_pointer_v<B>;
  } else {
    return kIsNumber<A> == kIsNumber<B> && std::is_class_v<A> == std::is_class_v<B> &&
           sizeof(A) == sizeof(B);
  }
}();

template <typename A, typename B>
constexpr bool kSame = false;
template <typename R, typename S, typename... A, typename... B>
constexpr bool kSame<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) == sizeof...(B)) {
    return kAlike<R, S> && (kAlike<A, B> && ...);
  } else {
    return false;
  }
}();

}  // namespace fathom::tracer_test

#endif  // FATHOM_TESTS_DAEMON_TRACER_NCCL_ALIKE_H_
