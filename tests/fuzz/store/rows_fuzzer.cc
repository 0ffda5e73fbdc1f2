// Any bytes as the blobs of the store: a verdict, what was learnt of a job, its account, a run, a
// notice.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "collector/export/job_ledger_proto.h"
#include "collector/export/report.h"
#include "collector/export/verdict_proto.h"
#include "collector/notify/notice_record.h"
#include "collector/notify/verdict_notice.h"
#include "collector/store/learnt_record.h"
#include "collector/store/run_record.h"
#include "collector/verdict/job_verdicts.h"
#include "fathom/v1/report.pb.h"

namespace {

using namespace fathom::collector;  // NOLINT(google-build-using-namespace)

void AsVerdict(const std::string& bytes) {
  fathom::v1::Verdict message;
  message.ParseFromString(
      bytes);  // what could be read of a damaged one is taken, as the store does
  Episode episode = FromProto(message);
  (void)VerdictJson(episode);
  (void)NoticeOf(episode, "https://fathom.example");
  JobVerdicts verdicts;
  verdicts.Adopt(episode);
  (void)verdicts.CloseAll({}, "over");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  AsVerdict(bytes);
  if (const auto learnt = FromRecord(bytes)) {
    if (!FromRecord(ToRecord(*learnt))) std::abort();
  }
  if (const auto account = AccountFromBytes(bytes)) {
    fathom::v1::JobLedger ledger;
    ToProto(account->state, ledger);
    if (!AccountFromBytes(ToBytes(*account))) std::abort();
  }
  if (const auto run = RunFromBytes(bytes)) {
    if (!RunFromBytes(ToBytes(*run))) std::abort();
  }
  if (const auto notice = ReadNotice(bytes)) {
    const auto again = ReadNotice(WriteNotice(*notice));
    if (!again || again->key != notice->key || again->labels != notice->labels) std::abort();
  }
  return 0;
}
