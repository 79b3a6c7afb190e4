#include "src/import/typed_workload.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/import/data_set_definition.hpp"

namespace kevo::importing {

namespace json = boost::json;

namespace {

[[noreturn]] void cannot_express(const std::string& why) {
  throw error(error_code::input, why);
}

json::object tolerance_of(const json::object& check, const std::string& output) {
  const std::string type = importing::text_of(check, "type"), mode = importing::text_of(check, "mode");
  if (type == "exact") return {{"rule", "exact"}};
  if (type != "numeric" || (!mode.empty() && mode != "elementwise")) {
    cannot_express(
        fmt::format("the output '{}' is compared by '{}', and kevo has only tolerances of single elements "
                    "(checks of the type 'numeric' with the mode 'elementwise', or 'exact')",
                    output, type == "numeric" ? mode : type));
  }
  json::object made{{"max_atol", 1e-2}, {"max_rtol", 1e-2}};  // the defaults of the form
  for (const char* key :
       {"max_atol", "max_rtol", "required_matched_ratio", "max_error_cap", "allow_negative_inf"}) {
    if (const auto* given = check.if_contains(key); given != nullptr && !given->is_null()) made[key] = *given;
  }
  return made;
}

json::object tolerances_of(const json::value& checks) {
  if (!checks.is_array()) cannot_express("'checks' is not a list");
  json::object made;
  for (const auto& one : checks.as_array()) {
    if (!one.is_object()) cannot_express("an entry of 'checks' is not an object");
    const std::string output = importing::text_of(one.as_object(), "output");
    if (output.empty()) {
      cannot_express(
          fmt::format("a check of the type '{}' concerns several outputs, which kevo cannot express",
                      importing::text_of(one.as_object(), "type")));
    }
    if (made.contains(output)) cannot_express(fmt::format("the output '{}' has two checks", output));
    made[output] = tolerance_of(one.as_object(), output);
  }
  return made;
}

/// A parameter of a generator: a number, or an expression of axes.
std::string parameter_of(const json::object& generator, const char* key, const std::string& otherwise) {
  const auto* given = generator.if_contains(key);
  if (given == nullptr) return otherwise;
  if (given->is_string()) return std::string(given->as_string());
  if (given->is_number()) return fmt::format("{}", given->to_number<double>());
  cannot_express(fmt::format("'{}' of a generator is not a number", key));
}

std::string generator_of(const json::object& generator, const std::string& input) {
  const std::string type = importing::text_of(generator, "type");
  const auto of = [&](const char* key, const char* otherwise) {
    return parameter_of(generator, key, otherwise);
  };
  if (type == "normal") return fmt::format("normal({}, {})", of("mean", "0"), of("std", "1"));
  if (type == "uniform") return fmt::format("uniform({}, {})", of("low", "0"), of("high", "1"));
  // Theirs is without the upper bound.
  if (type == "integer") return fmt::format("integers({}, ({}) - 1)", of("low", "0"), of("high", "0"));
  cannot_express(
      fmt::format("the input '{}' is drawn by the generator '{}', which kevo does not have (it has normal, "
                  "uniform and integer; a function of the reference can make other inputs, with the type "
                  "'custom')",
                  input, type));
}

}  // namespace

void renew_workload(json::object& workload) {
  if (importing::text_of(workload, "schema_version") == "sol_execbench.workload.v2")
    workload.erase("schema_version");
  if (const auto* checks = workload.if_contains("checks"); checks != nullptr) {
    if (workload.contains("tolerance")) cannot_express("it has both 'checks' and 'tolerance'");
    json::object made = tolerances_of(*checks);
    workload.erase("checks");
    workload["tolerance"] = std::move(made);
  }
  auto* inputs = workload.if_contains("inputs");
  if (inputs == nullptr || !inputs->is_object()) return;
  json::object generate;
  for (auto& [key, input] : inputs->as_object()) {
    if (!input.is_object() || importing::text_of(input.as_object(), "type") != "generated") continue;
    const auto* generator = input.as_object().if_contains("generator");
    if (generator == nullptr || !generator->is_object())
      cannot_express(
          fmt::format("the input '{}' has no generator", std::string_view(key.data(), key.size())));
    generate[key] = generator_of(generator->as_object(), std::string(key));
    input = json::object{{"type", "random"}};
  }
  if (!generate.empty()) workload["generate"] = std::move(generate);
}

}  // namespace kevo::importing
