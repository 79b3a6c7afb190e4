#include "src/import/kernelbench_tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "src/import/kernelbench.hpp"

namespace kevo {
namespace json = boost::json;
namespace {

constexpr double tolerance_of_float32 = 1e-4;  // absolute and relative

}  // namespace

double kernelbench_tolerance(const json::object& said) {
  double tolerance = 0;
  for (const auto& one : said.at("outputs").as_array()) {
    const auto type = std::string_view(one.at("dtype").as_string());
    if (type == "float32" || type == "float64") tolerance = std::max(tolerance, tolerance_of_float32);
    if (type == "float16" || type == "bfloat16") tolerance = std::max(tolerance, 1e-2);
  }
  return tolerance;
}

double rounding_of_sums(const json::object& said) {
  constexpr double unit = 0x1p-24;
  constexpr double factor = 4;
  const double length = said.at("length").to_number<double>();
  double largest = 0;
  for (const auto& one : said.at("outputs").as_array()) {
    if (std::string_view(one.at("dtype").as_string()) != "float32") continue;
    const double share = std::min(factor * unit * std::sqrt(length), tolerance_of_float32);
    largest = std::max(largest, share * one.at("spread").to_number<double>());
  }
  return std::isfinite(largest) ? largest : 0;
}

double shrinkage(const json::object& given, const json::object& tested) {
  double least = 1;
  const auto& here = tested.at("outputs").as_array();
  for (std::size_t i = 0; i < here.size(); ++i) {
    const double small = here[i].at("spread").to_number<double>();
    const double wide = given.at("outputs").at(i).at("spread").to_number<double>();
    if (small > 0 && wide > 0) least = std::min(least, wide / small);
  }
  return least;
}

double rounded_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit) * unit;
}

std::string tolerance_text(const json::object& said, const imported_task& result) {
  std::string text = fmt::format(
      "# KernelBench accepts |error| <= {0} + {0} |expected|, where the reference in the types of the task "
      "is "
      "what is expected.\n# kevo compares with the reference in float64.\n",
      result.given_tolerance);
  if (result.widened > 1)
    text += fmt::format(
        "# An element is a sum of {0:.0f} products, and sums near 0 have rounding errors above {1}: the "
        "absolute tolerance is\n# 4 u sqrt({0:.0f}) times the spread of the outputs, u = 2^-24.\n",
        said.at("length").to_number<double>(), result.given_tolerance);
  if (result.widened < 1)
    text +=
        "# At these sizes the outputs are smaller than at those of the test below, and so is the absolute "
        "tolerance.\n";
  if (!result.tested_with.empty())
    text += fmt::format("# The tolerance was tested with {}.\n", result.tested_with);
  if (!result.untested.empty()) text += fmt::format("# The tolerance was not tested: {}.\n", result.untested);
  return text + fmt::format("tolerance: {{max_atol: {:.6g}, max_rtol: {:.6g}}}\n",
                            result.tolerance * result.widened, result.tolerance);
}

}  // namespace kevo
