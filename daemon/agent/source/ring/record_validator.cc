#include "daemon/agent/source/ring/record_validator.h"

#include "daemon/abi/ring_layout.h"
#include "proto/types/bounds.h"
#include "proto/types/collective_kind.h"
#include "proto/types/data_type.h"
#include "proto/types/flop_class.h"

namespace fathom::agent {
namespace {

using abi::RecordKind;

constexpr std::int64_t kFutureSlackNs = 1'000'000'000;
constexpr auto kFarCpuNs = static_cast<std::uint64_t>(kFarMonoNs);
// A GPU's clock may count from anywhere.
constexpr auto kFarGpuNs = static_cast<std::uint64_t>(kFarWallNs);

bool GroupOk(std::uint16_t slot) { return slot < abi::kGroupSlots || slot == abi::kNoGroupSlot; }

// Fields that must hold for the op's own records.
bool OpFieldsOk(const abi::EventRecord& r) {
  return r.op_id != 0 && r.collective_kind < kCollectiveKindCount && r.data_type < kDataTypeCount &&
         GroupOk(r.group_slot);
}

bool KindFieldsOk(const abi::EventRecord& r) {
  switch (static_cast<RecordKind>(r.record_kind)) {
    case RecordKind::kOpEnter:
      return OpFieldsOk(r) && ((r.flags & abi::kFlagDevice) != 0 || r.extra <= kFarCpuNs);
    case RecordKind::kOpReturn:
      return OpFieldsOk(r);
    case RecordKind::kExecStart:
    case RecordKind::kExecEnd:
    case RecordKind::kWaitStart:
    case RecordKind::kWaitEnd:
      return (r.extra != 0 || r.op_id != 0 || (r.flags & abi::kFlagWaitAll) != 0) &&
             GroupOk(r.group_slot);
    case RecordKind::kWire:
      return static_cast<std::int64_t>(r.extra) >= 0 && GroupOk(r.group_slot);
    case RecordKind::kMark:
      return r.extra != 0;
    case RecordKind::kDeviceCalls:
      return r.op_id == 0;
    case RecordKind::kProducts:
      return r.op_id == 0 && r.data_type < kFlopClasses;
    case RecordKind::kSyncStart:
    case RecordKind::kSyncEnd:
      return r.extra != 0 && r.extra < abi::kSyncKindCount;
    case RecordKind::kGpuStart:
    case RecordKind::kGpuEnd:
      return OpFieldsOk(r) && r.extra <= kFarGpuNs &&
             (r.extra == 0 || r.bytes <= r.extra);  // 0: the end was not told
    case RecordKind::kNone:
      return false;
  }
  return false;
}

}  // namespace

RecordVerdict ValidateRecord(const abi::EventRecord& record, std::int64_t now_ns) {
  if (record.record_kind >= abi::kRecordKindCount) return RecordVerdict::kUnknownKind;
  if (record.time_ns <= 0 || record.time_ns > now_ns + kFutureSlackNs) {
    return RecordVerdict::kBadField;
  }
  return KindFieldsOk(record) ? RecordVerdict::kValid : RecordVerdict::kBadField;
}

}  // namespace fathom::agent
