// The headers that the GPU sources will compile against are there, agree with one another, and are
// new enough for what docs/architecture.md plans. Links none of the libraries.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <gtest/gtest.h>
#include <nccl.h>

namespace fathom {
namespace {

TEST(CudaHeaders, RuntimeAndDriverAreOfOneRelease) {
  EXPECT_EQ(CUDART_VERSION / 1000, CUDA_VERSION / 1000);
  EXPECT_GE(CUDA_VERSION, 12000);
}

TEST(CudaHeaders, CuptiHasActivityRecords) { EXPECT_GE(CUPTI_API_VERSION, 18); }

TEST(CudaHeaders, NcclHasCommunicatorSplit) {
  EXPECT_GE(NCCL_VERSION_CODE, NCCL_VERSION(2, 18, 1));
}

}  // namespace
}  // namespace fathom
