// What the names in a trace mean: categories, collectives, element types.
//
// Used by RankTraceBuilder, event_parser and rank_rows. Names as met in PyTorch 1.8 to 2.13;
// docs/formats/kineto.md lists them.
//
// Thread-safety: pure functions. Errors: kOther, kUnknown. Cost: hot path for CategoryOf.
#ifndef FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_NAMES_H_
#define FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"

namespace fathom::collector::kineto {

enum class Category : std::uint8_t {
  kOther,
  kHostOp,      // cpu_op
  kAnnotation,  // user_annotation
  kKernel,
  kCopy,     // gpu_memcpy, gpu_memset
  kRuntime,  // cuda_runtime, cuda_driver and their like
  kPython,
};

Category CategoryOf(std::string_view category);

// "allreduce_coalesced", "_allgather_base_", "all_reduce", "AllReduce_Sum_f32": the kind of the
// collective, whatever the spelling.
CollectiveKind KindOfName(std::string_view name);

// Of an NCCL kernel, or nothing if the kernel is none.
std::optional<CollectiveKind> KindOfKernel(std::string_view name);

// "float", "Float", "c10::BFloat16", "Half", "long int".
DataType DataTypeOfName(std::string_view name);
std::uint32_t BytesOf(DataType type);  // 0 for kUnknown

// N of "ProfilerStep#N".
std::optional<std::int64_t> StepNumber(std::string_view name);

// "step 12" and "step 7" are of one name, "step #".
std::string WithoutNumbers(std::string_view name);

// "[0, 1, 2, 3]". "[0, 1, ..., 7]", as printed for many, tells nothing.
std::vector<std::uint32_t> RanksOfText(std::string_view text);

// Of a call of the CUDA or HIP runtime or driver: whether it puts work on a stream.
bool IsLaunch(std::string_view name);

bool IsCollection(std::string_view name);  // garbage collection
// An op that does nothing but wait for a communication: functional collectives (DTensor) have it.
bool IsWait(std::string_view name);
bool IsDataLoading(std::string_view name);

}  // namespace fathom::collector::kineto

#endif  // FATHOM_COLLECTOR_IMPORT_KINETO_TRACE_NAMES_H_
