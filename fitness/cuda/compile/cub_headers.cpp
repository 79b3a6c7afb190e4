#include "fitness/cuda/compile/cub_headers.hpp"

#include <array>
#include <string_view>

namespace kevo::cuda {
namespace {

// As <cub/cub.cuh> names them, those for one thread, warp or block at a time.
constexpr std::array<std::string_view, 35> cub_headers = {"block/block_adjacent_difference",
                                                          "block/block_discontinuity",
                                                          "block/block_exchange",
                                                          "block/block_histogram",
                                                          "block/block_load",
                                                          "block/block_merge_sort",
                                                          "block/block_radix_rank",
                                                          "block/block_radix_sort",
                                                          "block/block_reduce",
                                                          "block/block_run_length_decode",
                                                          "block/block_scan",
                                                          "block/block_shuffle",
                                                          "block/block_store",
                                                          "grid/grid_even_share",
                                                          "grid/grid_mapping",
                                                          "grid/grid_queue",
                                                          "iterator/arg_index_input_iterator",
                                                          "iterator/cache_modified_input_iterator",
                                                          "iterator/cache_modified_output_iterator",
                                                          "iterator/tex_obj_input_iterator",
                                                          "thread/thread_load",
                                                          "thread/thread_operators",
                                                          "thread/thread_reduce",
                                                          "thread/thread_scan",
                                                          "thread/thread_search",
                                                          "thread/thread_sort",
                                                          "thread/thread_store",
                                                          "util_debug",
                                                          "util_ptx",
                                                          "util_type",
                                                          "warp/warp_exchange",
                                                          "warp/warp_load",
                                                          "warp/warp_merge_sort",
                                                          "warp/warp_reduce",
                                                          "warp/warp_scan"};

}  // namespace

std::string cub_without_device() {
  std::string text = "#pragma once\n";
  for (const auto header : cub_headers) {
    const auto name = "<cub/" + std::string(header) + ".cuh>";
    text += "#if __has_include(" + name + ")\n#include " + name + "\n#endif\n";
  }
  return text;
}

}  // namespace kevo::cuda
