#include "collector/import/kineto/trace/names.h"

#include <gtest/gtest.h>

namespace fathom::collector::kineto {
namespace {

TEST(Names, KnowCategoriesOldAndNew) {
  EXPECT_EQ(CategoryOf("cpu_op"), Category::kHostOp);
  EXPECT_EQ(CategoryOf("Operator"), Category::kHostOp);
  EXPECT_EQ(CategoryOf("kernel"), Category::kKernel);
  EXPECT_EQ(CategoryOf("Kernel"), Category::kKernel);
  EXPECT_EQ(CategoryOf("Memcpy"), Category::kCopy);
  EXPECT_EQ(CategoryOf("gpu_user_annotation"), Category::kOther);
  EXPECT_EQ(CategoryOf(""), Category::kOther);
}

TEST(Names, KnowCollectivesInEverySpelling) {
  EXPECT_EQ(KindOfName("allreduce_"), CollectiveKind::kAllReduce);
  EXPECT_EQ(KindOfName("allreduce_coalesced_"), CollectiveKind::kAllReduce);
  EXPECT_EQ(KindOfName("_allgather_base_"), CollectiveKind::kAllGather);
  EXPECT_EQ(KindOfName("_reduce_scatter_base_"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(KindOfName("reduce_"), CollectiveKind::kReduce);
  EXPECT_EQ(KindOfName("alltoall_base_"), CollectiveKind::kAllToAll);
  EXPECT_EQ(KindOfName("monitored_barrier_"), CollectiveKind::kBarrier);
  EXPECT_EQ(KindOfName("recv_any_source_"), CollectiveKind::kRecv);
  EXPECT_EQ(KindOfName("wait"), CollectiveKind::kUnknown);
  EXPECT_EQ(KindOfName("init"), CollectiveKind::kUnknown);
}

TEST(Names, KnowKernelsOfNccl) {
  EXPECT_EQ(
      KindOfKernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
      CollectiveKind::kAllReduce);
  EXPECT_EQ(KindOfKernel("ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclWorkElem)"),
            CollectiveKind::kReduceScatter);
  EXPECT_EQ(KindOfKernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
            CollectiveKind::kUnknown);
  EXPECT_EQ(
      KindOfKernel("ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16(ncclSymkDevWorkArgs4K)"),
      CollectiveKind::kAllReduce);
  EXPECT_EQ(KindOfKernel("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"),
            CollectiveKind::kUnknown);
  EXPECT_EQ(KindOfKernel("mscclKernel_Sum_hip_bfloat16_Simple_false(ncclDevComm*, mscclAlgo*)"),
            CollectiveKind::kUnknown);
  EXPECT_FALSE(KindOfKernel("ampere_sgemm_128x64_tn"));
  EXPECT_FALSE(KindOfKernel("nccl:all_reduce"));
}

TEST(Names, KnowTypesAndTheirSizes) {
  EXPECT_EQ(DataTypeOfName("float"), DataType::kFloat32);
  EXPECT_EQ(DataTypeOfName("c10::BFloat16"), DataType::kBFloat16);
  EXPECT_EQ(DataTypeOfName("Half"), DataType::kFloat16);
  EXPECT_EQ(DataTypeOfName("long int"), DataType::kInt64);
  EXPECT_EQ(DataTypeOfName("TensorList"), DataType::kUnknown);
  EXPECT_EQ(BytesOf(DataType::kBFloat16), 2);
  EXPECT_EQ(BytesOf(DataType::kUnknown), 0);
}

TEST(Names, TakeStepsOnlyFromTheWholeName) {
  EXPECT_EQ(StepNumber("ProfilerStep#17"), 17);
  EXPECT_FALSE(StepNumber("ProfilerStep*"));
  EXPECT_FALSE(StepNumber("ProfilerStep#"));
  EXPECT_FALSE(StepNumber("ProfilerStep#17b"));
  EXPECT_FALSE(StepNumber("ProfilerStep#-1"));
}

TEST(Names, KnowTheMarks) {
  EXPECT_TRUE(IsCollection("Python GC"));
  EXPECT_TRUE(IsCollection("<built-in function collect>"));
  EXPECT_FALSE(IsCollection("collect.py(3): collect"));
  EXPECT_TRUE(IsWait("_c10d_functional::wait_tensor"));
  EXPECT_FALSE(IsWait("_c10d_functional::all_reduce"));
  EXPECT_EQ(WithoutNumbers("step 12 of 300"), "step # of #");
  EXPECT_EQ(WithoutNumbers("train_step"), "train_step");
  EXPECT_TRUE(IsDataLoading("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"));
  EXPECT_FALSE(IsDataLoading("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__init__"));
}

}  // namespace
}  // namespace fathom::collector::kineto
