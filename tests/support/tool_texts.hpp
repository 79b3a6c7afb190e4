#pragma once
// What NVIDIA's tools write, in the form that their documentation shows.

#include <string>

namespace tool_texts {

inline const std::string memcheck_clean =
    "========= COMPUTE-SANITIZER\n"
    "========= ERROR SUMMARY: 0 errors\n";

inline const std::string memcheck_errors =
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at scale(const float *, float *, long long)+0x120\n"
    "=========     by thread (244,0,0) in block (1,0,0)\n"
    "=========     Address 0x7f5e2ba007d0 is out of bounds\n"
    "=========     and is 1 bytes after the nearest allocation at 0x7f5e2ba00000 of size 2000 bytes\n"
    "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
    "=========     Host Frame: [0x331390]\n"
    "=========                in /usr/lib/x86_64-linux-gnu/libcuda.so.1\n"
    "========= \n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at scale(const float *, float *, long long)+0x120\n"
    "=========     by thread (245,0,0) in block (1,0,0)\n"
    "=========     Address 0x7f5e2ba007d4 is out of bounds\n"
    "========= \n"
    "========= ERROR SUMMARY: 12 errors\n";

inline const std::string racecheck_clean =
    "========= COMPUTE-SANITIZER\n"
    "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n";

inline const std::string racecheck_errors =
    "========= COMPUTE-SANITIZER\n"
    "========= Error: Race reported between Write access at scale(const float *, float *, long long)+0x1a0\n"
    "=========     and Read access at scale(const float *, float *, long long)+0x1d0 [508 hazards]\n"
    "=========\n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";

inline const std::string racecheck_warning =
    "========= COMPUTE-SANITIZER\n"
    "========= Warning: Race reported between Read access at scale(const float *, float *, long long)+0x1a0\n"
    "=========     and Write access at scale(const float *, float *, long long)+0x1d0 [4 hazards]\n"
    "=========\n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n";

inline std::string ncu_line(int id, const std::string& metric, const std::string& unit,
                            const std::string& value) {
  return "\"" + std::to_string(id) +
         "\",\"4711\",\"kevo-replay-cuda\",\"127.0.0.1\",\"scale(const float *, float *, long "
         "long)\",\"1\",\"7\",\"(256, 1, 1)\",\"(8, 1, 1)\",\"0\",\"9.0\",\"Command line profiler "
         "metrics\",\"" +
         metric + "\",\"" + unit + "\",\"" + value + "\"\n";
}

inline std::string ncu_kernel(int id, const std::string& ns, const std::string& dram, const std::string& sm,
                              const std::string& warps, const std::string& hits) {
  return ncu_line(id, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", dram) +
         ncu_line(id, "gpu__time_duration.sum", "ns", ns) +
         ncu_line(id, "lts__t_sector_hit_rate.pct", "%", hits) +
         ncu_line(id, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", sm) +
         ncu_line(id, "sm__warps_active.avg.pct_of_peak_sustained_active", "%", warps);
}

inline const std::string ncu_head =
    "==PROF== Connected to process 4711 (/kevo/kevo-replay-cuda)\n"
    "==PROF== Profiling \"scale\" - 0: 0%....50%....100% - 3 passes\n"
    "==PROF== Disconnected from process 4711\n"
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
    "Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
    "Value\"\n";

inline const std::string ncu_two_kernels = ncu_head + ncu_kernel(0, "3,000", "80", "20", "50", "40") +
                                           ncu_kernel(1, "1,000.00", "40", "60", "90", "n/a");

inline const std::string ncu_not_allowed =
    "==PROF== Connected to process 4711 (/kevo/kevo-replay-cuda)\n"
    "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
    "Counters on "
    "the target device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM\n"
    "==PROF== Disconnected from process 4711\n"
    "==WARNING== No kernels were profiled.\n";

}  // namespace tool_texts
