// task: matmul
// verdict: launch_failed
// because: Calls a function whose mangled name of 270 characters stands for two gigabytes of text: a
//   controller that demangles it for its message runs out of memory.
#include <cstdint>

extern "C" void missing() asm(
    "_Z1f1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC"
    "_SC_ES_ISD_SD_ES_ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_ES_ISN_SN_ES_ISO_SO_ES_ISP_SP_E");

extern "C" void run(const float*, const float*, float*, int64_t, int64_t, int64_t) {
  missing();
}
