#include "collector/notify/verdict_notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::collector {
namespace {

Episode OnRank(const std::string& gpu) {
  Episode episode;
  episode.id = "v1";
  episode.job = "train";
  episode.verdict.grade = diagnosis::Grade::kEstablished;
  episode.verdict.entity.ranks = {RankId(2)};
  episode.verdict.entity.node = "n17";
  episode.verdict.entity.gpu = gpu;
  return episode;
}

TEST(VerdictNoticeTest, NamesTheGpuWhereItIsKnown) {
  const Notice notice = NoticeOf(OnRank("0000:1B:00.0"), "");
  EXPECT_THAT(notice.description, testing::HasSubstr("GPU: 0000:1B:00.0."));
  EXPECT_EQ(notice.labels.at("node"), "n17");
  EXPECT_EQ(notice.labels.count("gpu"), 0u) << "it may be told later, and labels say which alert";
  EXPECT_THAT(NoticeOf(OnRank(""), "").description, testing::Not(testing::HasSubstr("GPU")));
}

}  // namespace
}  // namespace fathom::collector
