#pragma once
// What <kevo/lab.hpp> writes: the table, the curves, every cell and one page.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "src/lab/lab_config.hpp"
#include "src/lab/lab_statistics.hpp"

namespace kevo {

/// The results as files: the table and the differences, the curves, every cell, one page.
std::vector<std::string> write_lab(const lab_plan& plan, const std::vector<std::vector<cell_result>>& cells,
                                   const lab_results& results);

/// One self-contained page: no script, nothing loaded from anywhere.
std::string lab_page(const lab_plan& plan, const lab_results& results);

}  // namespace kevo
