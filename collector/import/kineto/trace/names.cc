#include "collector/import/kineto/trace/names.h"

#include <array>
#include <charconv>
#include <string>

namespace fathom::collector::kineto {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Lower case, letters and digits only: "_allgather_base_" and "AllGather" begin alike.
std::string Plain(std::string_view name) {
  std::string plain;
  plain.reserve(name.size());
  for (const char c : name) {
    const char lower = Lower(c);
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) plain.push_back(lower);
  }
  return plain;
}

struct NamedCategory {
  std::string_view name;
  Category category;
};

constexpr std::array kCategories = {
    NamedCategory{"cpu_op", Category::kHostOp},
    NamedCategory{"python_function", Category::kPython},
    NamedCategory{"kernel", Category::kKernel},
    NamedCategory{"cuda_runtime", Category::kRuntime},
    NamedCategory{"user_annotation", Category::kAnnotation},
    NamedCategory{"gpu_memcpy", Category::kCopy},
    NamedCategory{"gpu_memset", Category::kCopy},
    NamedCategory{"cuda_driver", Category::kRuntime},
    NamedCategory{"hip_runtime", Category::kRuntime},
    NamedCategory{"privateuse1_runtime", Category::kRuntime},
    NamedCategory{"Operator", Category::kHostOp},
    NamedCategory{"Kernel", Category::kKernel},
    NamedCategory{"Memcpy", Category::kCopy},
    NamedCategory{"Memset", Category::kCopy},
    NamedCategory{"Runtime", Category::kRuntime},
    NamedCategory{"Python function", Category::kPython},
    NamedCategory{"User Annotation", Category::kAnnotation},
};

struct NamedKind {
  std::string_view name;
  CollectiveKind kind;
};

// The longer name first where one begins with the other.
constexpr std::array kKinds = {
    NamedKind{"allreduce", CollectiveKind::kAllReduce},
    NamedKind{"allgather", CollectiveKind::kAllGather},
    NamedKind{"reducescatter", CollectiveKind::kReduceScatter},
    NamedKind{"broadcast", CollectiveKind::kBroadcast},
    NamedKind{"alltoall", CollectiveKind::kAllToAll},
    NamedKind{"reduce", CollectiveKind::kReduce},
    NamedKind{"gather", CollectiveKind::kGather},
    NamedKind{"scatter", CollectiveKind::kScatter},
    NamedKind{"barrier", CollectiveKind::kBarrier},
    NamedKind{"monitoredbarrier", CollectiveKind::kBarrier},
    NamedKind{"send", CollectiveKind::kSend},
    NamedKind{"isend", CollectiveKind::kSend},
    NamedKind{"recv", CollectiveKind::kRecv},
    NamedKind{"irecv", CollectiveKind::kRecv},
};

struct NamedType {
  std::string_view name;
  DataType type;
};

constexpr std::array kTypes = {
    NamedType{"float", DataType::kFloat32},
    NamedType{"float32", DataType::kFloat32},
    NamedType{"double", DataType::kFloat64},
    NamedType{"float64", DataType::kFloat64},
    NamedType{"c10bfloat16", DataType::kBFloat16},
    NamedType{"bfloat16", DataType::kBFloat16},
    NamedType{"c10half", DataType::kFloat16},
    NamedType{"half", DataType::kFloat16},
    NamedType{"float16", DataType::kFloat16},
    NamedType{"longint", DataType::kInt64},
    NamedType{"long", DataType::kInt64},
    NamedType{"int64", DataType::kInt64},
    NamedType{"int", DataType::kInt32},
    NamedType{"int32", DataType::kInt32},
    NamedType{"unsignedchar", DataType::kUint8},
    NamedType{"byte", DataType::kUint8},
    NamedType{"uint8", DataType::kUint8},
    NamedType{"signedchar", DataType::kInt8},
    NamedType{"char", DataType::kInt8},
    NamedType{"int8", DataType::kInt8},
    NamedType{"bool", DataType::kUint8},
    NamedType{"c10float8e4m3fn", DataType::kFloat8E4M3},
    NamedType{"float8e4m3fn", DataType::kFloat8E4M3},
    NamedType{"c10float8e5m2", DataType::kFloat8E5M2},
    NamedType{"float8e5m2", DataType::kFloat8E5M2},
};

}  // namespace

Category CategoryOf(std::string_view category) {
  if (category.empty()) return Category::kOther;
  for (const NamedCategory& known : kCategories) {
    // Most are told apart by this alone.
    if (known.name.size() != category.size() || known.name.front() != category.front()) continue;
    if (known.name == category) return known.category;
  }
  return Category::kOther;
}

CollectiveKind KindOfName(std::string_view name) {
  const std::string plain = Plain(name);
  for (const NamedKind& known : kKinds) {
    if (plain.starts_with(known.name)) return known.kind;
  }
  return CollectiveKind::kUnknown;
}

std::optional<CollectiveKind> KindOfKernel(std::string_view name) {
  // "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)", older "ncclKernel_AllReduce_RING_LL_Sum_float",
  // before NCCL 2.9 "ncclAllReduceRingLLKernel_sum_f32"; RCCL has the same names, and the kernels
  // of MSCCL, which tell no kind.
  if (name.find("mscclKernel") != std::string_view::npos) return CollectiveKind::kUnknown;
  constexpr std::string_view kNccl = "nccl";
  const std::size_t at = name.find(kNccl);
  if (at == std::string_view::npos || name.find("Kernel", at) == std::string_view::npos) {
    return std::nullopt;
  }
  const CollectiveKind early = KindOfName(name.substr(at + kNccl.size()));
  if (early != CollectiveKind::kUnknown && early != CollectiveKind::kSend) return early;
  const std::size_t underscore = name.find('_', at);
  if (underscore == std::string_view::npos) return CollectiveKind::kUnknown;
  const std::string_view rest = name.substr(underscore + 1);
  if (rest.starts_with("SendRecv")) return CollectiveKind::kUnknown;  // either, or an all-to-all
  return KindOfName(rest);
}

DataType DataTypeOfName(std::string_view name) {
  const std::string plain = Plain(name);
  for (const NamedType& known : kTypes) {
    if (plain == known.name) return known.type;
  }
  return DataType::kUnknown;
}

std::uint32_t BytesOf(DataType type) {
  switch (type) {
    case DataType::kUnknown:
      return 0;
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kFloat8E4M3:
    case DataType::kFloat8E5M2:
      return 1;
    case DataType::kFloat16:
    case DataType::kBFloat16:
      return 2;
    case DataType::kInt32:
    case DataType::kUint32:
    case DataType::kFloat32:
      return 4;
    case DataType::kInt64:
    case DataType::kUint64:
    case DataType::kFloat64:
      return 8;
  }
  return 0;
}

std::optional<std::int64_t> StepNumber(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

std::vector<std::uint32_t> RanksOfText(std::string_view text) {
  std::vector<std::uint32_t> ranks;
  if (text.find("...") != std::string_view::npos) return ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    std::uint32_t rank = 0;
    const auto [stop, error] = std::from_chars(at, end, rank);
    if (error == std::errc{}) ranks.push_back(rank);
    at = stop == at ? at + 1 : stop;
  }
  return ranks;
}

std::string WithoutNumbers(std::string_view name) {
  std::string out;
  for (const char each : name) {
    const bool digit = each >= '0' && each <= '9';
    if (!digit) out.push_back(each);
    if (digit && (out.empty() || out.back() != '#')) out.push_back('#');
  }
  return out;
}

bool IsLaunch(std::string_view name) {
  for (const std::string_view part : {"aunch", "emcpy", "emset"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

bool IsCollection(std::string_view name) {
  return name == "Python GC" || name == "<built-in function collect>";
}

bool IsWait(std::string_view name) { return name.ends_with("c10d_functional::wait_tensor"); }

bool IsDataLoading(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__");
}

}  // namespace fathom::collector::kineto
