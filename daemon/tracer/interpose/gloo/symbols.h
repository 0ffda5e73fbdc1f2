// The names of c10d and Gloo that the tracer interposes, as the linker knows them.
//
// Used by the shims of this folder and, by way of daemon/tracer/exports.map, by the tests that
// compare the library's exports with these. The macros spell types as the Itanium C++ ABI does.
// Checked on PyTorch 2.13 (CPU wheel). A name that another version lacks is simply never called.
#ifndef FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_SYMBOLS_H_
#define FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_SYMBOLS_H_

#define FATHOM_PG "_ZN4c10d16ProcessGroupGloo"
#define FATHOM_MS "NSt6chrono8durationIlSt5ratioILl1ELl1000EEEE"
#define FATHOM_INTRUSIVE_NULL "ENS1_6detail34intrusive_target_default_null_typeI"

// Parameter lists: T one tensor, L a list of tensors, LL a list of lists.
#define FATHOM_L_ "RSt6vectorIN2at6TensorESaIS3_EE"
#define FATHOM_LL_L_ "RSt6vectorIS1_IN2at6TensorESaIS3_EESaIS5_EERS5_"
#define FATHOM_L_LL_ "RSt6vectorIN2at6TensorESaIS3_EERS1_IS5_SaIS5_EE"
#define FATHOM_L_L_ "RSt6vectorIN2at6TensorESaIS3_EES6_"
#define FATHOM_T_T_ "RN2at6TensorES3_"

#define FATHOM_GLOO_BROADCAST FATHOM_PG "9broadcastE" FATHOM_L_ "RKNS_16BroadcastOptionsE"
#define FATHOM_GLOO_ALLREDUCE FATHOM_PG "9allreduceE" FATHOM_L_ "RKNS_16AllreduceOptionsE"
#define FATHOM_GLOO_ALLREDUCE_SPARSE \
  FATHOM_PG "16allreduce_sparseE" FATHOM_L_ "RKNS_16AllreduceOptionsE"
#define FATHOM_GLOO_ALLREDUCE_COALESCED \
  FATHOM_PG "19allreduce_coalescedE" FATHOM_L_ "RKNS_25AllreduceCoalescedOptionsE"
#define FATHOM_GLOO_REDUCE FATHOM_PG "6reduceE" FATHOM_L_ "RKNS_13ReduceOptionsE"
#define FATHOM_GLOO_ALLGATHER FATHOM_PG "9allgatherE" FATHOM_LL_L_ "RKNS_16AllgatherOptionsE"
#define FATHOM_GLOO_ALLGATHER_BASE \
  FATHOM_PG "15_allgather_baseE" FATHOM_T_T_ "RKNS_16AllgatherOptionsE"
#define FATHOM_GLOO_ALLGATHER_COALESCED \
  FATHOM_PG "19allgather_coalescedE" FATHOM_LL_L_ "RKNS_16AllgatherOptionsE"
#define FATHOM_GLOO_ALLGATHER_INTO \
  FATHOM_PG "31allgather_into_tensor_coalescedE" FATHOM_L_L_ "RKNS_16AllgatherOptionsE"
#define FATHOM_GLOO_GATHER FATHOM_PG "6gatherE" FATHOM_LL_L_ "RKNS_13GatherOptionsE"
#define FATHOM_GLOO_SCATTER FATHOM_PG "7scatterE" FATHOM_L_LL_ "RKNS_14ScatterOptionsE"
#define FATHOM_GLOO_REDUCE_SCATTER \
  FATHOM_PG "14reduce_scatterE" FATHOM_L_LL_ "RKNS_20ReduceScatterOptionsE"
#define FATHOM_GLOO_REDUCE_SCATTER_BASE \
  FATHOM_PG "20_reduce_scatter_baseE" FATHOM_T_T_ "RKNS_20ReduceScatterOptionsE"
#define FATHOM_GLOO_REDUCE_SCATTER_INTO \
  FATHOM_PG "31reduce_scatter_tensor_coalescedE" FATHOM_L_L_ "RKNS_20ReduceScatterOptionsE"
#define FATHOM_GLOO_ALLTOALL_BASE \
  FATHOM_PG "13alltoall_baseE" FATHOM_T_T_ "RSt6vectorIlSaIlEES7_RKNS_15AllToAllOptionsE"
#define FATHOM_GLOO_ALLTOALL FATHOM_PG "8alltoallE" FATHOM_L_L_ "RKNS_15AllToAllOptionsE"
#define FATHOM_GLOO_BARRIER FATHOM_PG "7barrierERKNS_14BarrierOptionsE"
#define FATHOM_GLOO_MONITORED_BARRIER FATHOM_PG "16monitoredBarrierERKNS_14BarrierOptionsEb"
#define FATHOM_GLOO_SEND FATHOM_PG "4sendE" FATHOM_L_ "ii"
#define FATHOM_GLOO_RECV FATHOM_PG "4recvE" FATHOM_L_ "ii"
#define FATHOM_GLOO_RECV_ANY FATHOM_PG "13recvAnysourceE" FATHOM_L_ "i"

#define FATHOM_GLOO_GROUP_ARGUMENTS                         \
  "ERKN3c1013intrusive_ptrINS_5Store" FATHOM_INTRUSIVE_NULL \
  "S3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EE"                   \
  "EE"
#define FATHOM_GLOO_GROUP_C1 FATHOM_PG "C1" FATHOM_GLOO_GROUP_ARGUMENTS
#define FATHOM_GLOO_GROUP_C2 FATHOM_PG "C2" FATHOM_GLOO_GROUP_ARGUMENTS
#define FATHOM_GLOO_GROUP_D1 FATHOM_PG "D1Ev"
#define FATHOM_GLOO_GROUP_D2 FATHOM_PG "D2Ev"
#define FATHOM_GLOO_NEXT_TAG FATHOM_PG "7nextTagEv"

#define FATHOM_GLOO_ASYNC_WORK                                                           \
  FATHOM_PG                                                                              \
  "9AsyncWorkC2ESt10shared_ptrIN4gloo7ContextEESt6vectorIS6_IN2at6TensorESaIS8_EESaISA_" \
  "EENS_6OpTypeEm" FATHOM_MS "PKcRKSt8optionalISA_E"
#define FATHOM_GLOO_EXECUTE                                                                  \
  FATHOM_PG                                                                                  \
  "9AsyncWork7executeERKN3c1013intrusive_ptrIS1_NS2_6detail34intrusive_target_default_null_" \
  "typeIS1_EEEE"
#define FATHOM_GLOO_WORK_DONE FATHOM_PG "9AsyncWork14finishWorkGlooEv"
#define FATHOM_GLOO_WORK_ERROR \
  FATHOM_PG "9AsyncWork19finishWorkGlooErrorERKNSt15__exception_ptr13exception_ptrE"
#define FATHOM_GLOO_UNIQUE_BUFFER \
  "St10unique_ptrIN4gloo9transport13UnboundBufferESt14default_deleteIS8_EE"
#define FATHOM_GLOO_SEND_WORK FATHOM_PG "8SendWorkC1ERN2at6TensorE" FATHOM_GLOO_UNIQUE_BUFFER "m"
#define FATHOM_GLOO_RECV_WORK \
  FATHOM_PG "8RecvWorkC1ERN2at6TensorE" FATHOM_GLOO_UNIQUE_BUFFER "NS_6OpTypeEmPKc"
#define FATHOM_GLOO_SEND_WAIT FATHOM_PG "8SendWork4waitE" FATHOM_MS
#define FATHOM_GLOO_RECV_WAIT FATHOM_PG "8RecvWork4waitE" FATHOM_MS

#define FATHOM_GLOO_TCP_BUFFER "_ZN4gloo9transport3tcp13UnboundBuffer"
#define FATHOM_GLOO_BUFFER FATHOM_GLOO_TCP_BUFFER "C1ERKSt10shared_ptrINS1_7ContextEEPvm"
#define FATHOM_GLOO_BUFFER_SENT FATHOM_GLOO_TCP_BUFFER "20handleSendCompletionEi"
#define FATHOM_GLOO_BUFFER_RECEIVED FATHOM_GLOO_TCP_BUFFER "20handleRecvCompletionEi"

#define FATHOM_C10D_WORK_WAIT "_ZN4c10d4Work4waitE" FATHOM_MS
#define FATHOM_C10D_WORK_D2 "_ZN4c10d4WorkD2Ev"
#define FATHOM_C10D_FINALIZE_BACKWARD "_ZN4c10d7Reducer17finalize_backwardEv"

#endif  // FATHOM_DAEMON_TRACER_INTERPOSE_GLOO_SYMBOLS_H_
