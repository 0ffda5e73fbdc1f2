// What a device can compute at most, by the class of its operations: what MFU is rated against.
//
// Used by collector/runs. MFU, as its authors define it, is the operations that a model needs over
// what the device could have done in that time; ours are those that were seen.
//
// Model: a table of GPUs by the exact name that their driver gives, of dense products, without
// sparsity, with tensor cores where the class has them. A GPU that is not in it has no peak, never
// that of a model which is like it. A CPU has what a probe of its node measured, if one ran.
// Units: FLOP/s. Thread-safety: pure. Errors: nothing where it is not known. Cost: a search of some
// twenty names.
// Sources: NVIDIA's data sheets: V100 (2020-01), T4 (2019-03), A100 (2021-06), A30 (2022-04), A10
// (2021-04), L4 (2023-03), L40S (2023-08), H100 (2024-09), H200 (2024-11); where a sheet gives
// figures with sparsity only, half of them. MFU: Chowdhery and others, PaLM, 2022, appendix B.
#ifndef FATHOM_DIAGNOSIS_MODEL_DEVICE_PEAK_H_
#define FATHOM_DIAGNOSIS_MODEL_DEVICE_PEAK_H_

#include <optional>
#include <string>
#include <string_view>

#include "proto/types/flop_class.h"

namespace fathom::diagnosis {

struct DevicePeak {
  FlopByClass flop_per_s{};  // 0: not known
  std::string source;        // "data sheet", "probe"

  bool known() const;
  // The least time in which the device computes that; nothing where a class of it has no peak.
  std::optional<double> Seconds(const FlopByClass& flop) const;
};

DevicePeak PeakOf(std::string_view gpu);

}  // namespace fathom::diagnosis

#endif  // FATHOM_DIAGNOSIS_MODEL_DEVICE_PEAK_H_
