// How many bytes of which type the tensors of a call hold, asked of PyTorch's stable C interface.
//
// Used by op_shims.cc before the real call.
//
// Model: no private struct of PyTorch is read. `aoti_torch_get_numel` and `aoti_torch_get_dtype`
// are exported C functions (torch/csrc/inductor/aoti_torch/c/shim.h) that take the address of an
// at::Tensor. What is assumed beyond them: an at::Tensor is one pointer wide, a std::vector is
// begin and end pointer (libstdc++), and the numbers of c10::ScalarType, which saved models hold
// for ever. Guard: a list that is not a whole number of tensors, runs backwards or is longer than
// kMaxTensors is not read. Docs: docs/tracer/gloo.md. Thread-safety: thread-safe once resolved.
// Errors: not known(). Cost: hot path; two calls a tensor, about 5 ns each.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_BUFFER_SIZE_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_BUFFER_SIZE_H_

#include <cstddef>
#include <cstdint>

#include "proto/types/data_type.h"

namespace fathom::tracer {

inline constexpr std::size_t kMaxTensors = 4096;

enum class BufferForm : std::uint8_t { kNone, kUnknown, kTensor, kList, kListOfLists };

// Two whole words, so that it is returned in registers: narrow fields would go through memory, and
// loading them back as one word waits for their stores.
struct BufferSize {
  std::uint64_t type = kUnknownSize;  // a DataType, kUnknown also where the tensors differ
  std::uint64_t bytes = 0;

  static constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};
  bool known() const { return type != kUnknownSize; }
  DataType data_type() const { return known() ? static_cast<DataType>(type) : DataType::kUnknown; }
};

// Finds PyTorch's functions beside `library_code`, an address inside libtorch_cpu.
void ResolveTensorFunctions(void* library_code);

// Of what a call was given: no buffer, one whose size cannot be told, or the address of a tensor,
// of a list of tensors, or of a list of such lists. Requires: `address` is what `form` says.
BufferSize MeasureBuffer(BufferForm form, const void* address);

}  // namespace fathom::tracer

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_BUFFER_SIZE_H_
