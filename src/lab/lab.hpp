#pragma once
// A whole lab: every policy on every seed, in parallel, then its table, curves and page.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "src/lab/lab_config.hpp"
#include "src/lab/lab_statistics.hpp"

namespace kevo {

struct lab_outcome {
  std::string folder;
  std::size_t cells = 0;     ///< that the lab has
  std::size_t reused = 0;    ///< that were there before
  std::size_t finished = 0;  ///< by now
  bool interrupted = false;  ///< then there are no results
  lab_results results;
  std::vector<std::string> files;  ///< that were written
};

/// Runs what is missing of a lab and writes its results into `plan.output`. `progress` is called on this
/// thread a few times a second at most. Ctrl-C ends it early; finished cells are kept. Throws kevo::error.
lab_outcome run_lab(const lab_plan& plan,
                    const std::function<void(std::size_t finished, std::size_t cells)>& progress);

/// The results as files: the table and the differences, the curves, every cell, one page.
std::vector<std::string> write_lab(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells,
                                   const lab_results& results);

/// One self-contained page: no script, nothing loaded from anywhere.
std::string lab_page(const lab_plan& plan, const lab_results& results);

}  // namespace kevo
