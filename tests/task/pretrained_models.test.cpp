// Configurations of models that a reference takes from transformers: what is kept, and what is refused.

#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/task/sample_task.hpp"

namespace {

kevo::task model_task(const std::string& keys, const std::string& form = "module") {
  return sample_task::decode(
      "name: language_model\n"
      "axes: {M: {type: var}}\n"
      "inputs: {x: {shape: [M], dtype: int64}}\n"
      "outputs: {y: {shape: [M], dtype: float32}}\n"
      "reference:\n"
      "  language: python\n"
      "  file: model.py\n"
      "  form: " +
      form + "\n" + keys + "workloads:\n  - {uuid: small, axes: {M: 8}}\n");
}

}  // namespace

TEST_CASE("arguments and configurations are kept as they are") {
  const auto t = model_task(
      "  init: {args: [tiny/model, {pretrained_config: tiny/model, values: {n_layer: 3}}], kwargs: {}}\n"
      "  pretrained: {tiny/model: {model_type: gpt2, n_layer: 2, scale: 1.0e-5, tied: true, name: null}}\n");
  const auto kept = boost::json::parse(t.reference->init).as_object();
  CHECK(kept.at("args").at(1).at("pretrained_config") == "tiny/model");
  CHECK(kept.at("args").at(1).at("values").at("n_layer") == 3);
  const auto& config = kept.at("pretrained").at("tiny/model").as_object();
  CHECK(config.at("n_layer") == 2);
  CHECK(config.at("scale") == 1e-5);
  CHECK(config.at("tied") == true);
  CHECK(config.at("name").is_null());
}

TEST_CASE("configurations without arguments are kept, and arguments alone are what they were") {
  const auto models = model_task("  pretrained: {tiny: {model_type: gpt2}}\n");
  CHECK(boost::json::parse(models.reference->init).at("pretrained").at("tiny").at("model_type") == "gpt2");
  CHECK(model_task("  init: {args: [128], kwargs: {outputs: 96}}\n").reference->init ==
        R"({"args": [128], "kwargs": {"outputs": 96}})");
  CHECK(model_task("  pretrained: {}\n  init: {args: [1]}\n").reference->init ==
        R"({"args": [1], "pretrained": {}})");
}

TEST_CASE("what is no configuration is refused with its key") {
  CHECK_THROWS_WITH_AS(model_task("  pretrained: [tiny]\n"), doctest::Contains("expected a map"),
                       kevo::error);
  CHECK_THROWS_WITH_AS(model_task("  pretrained: {tiny: 3}\n"),
                       doctest::Contains("the configuration of 'tiny' is"), kevo::error);
  CHECK_THROWS_WITH_AS(model_task("  pretrained: {tiny: {model_type: gpt2}}\n", "function"),
                       doctest::Contains("a function has no constructor"), kevo::error);
  CHECK_THROWS_WITH_AS(model_task("  init: {kwargs: {all: [{config: {pretrained_config: other}}]}}\n"
                                  "  pretrained: {tiny: {model_type: gpt2}}\n"),
                       doctest::Contains("no configuration of the model 'other'"), kevo::error);
  CHECK_THROWS_WITH_AS(model_task("  init: {args: [{pretrained_config: tiny}]}\n"),
                       doctest::Contains("no configuration of the model 'tiny'"), kevo::error);
}
