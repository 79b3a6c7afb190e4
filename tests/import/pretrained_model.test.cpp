// labels: slow
// timeout: 300
// Files of KernelBench's level 4, which take a model from transformers by its name: the task contains the
// configuration, and the weights are drawn.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "src/import/kernelbench.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"
#include "tests/torch/corpus.hpp"

namespace {

constexpr const char* tiny_config =
    R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 32, "n_head": 4, "n_positions": 64, "vocab_size": 97,
 "attn_pdrop": 0.1, "resid_pdrop": 0.1, "initializer_range": 0.2, "torch_dtype": "float16"})";

std::string level4_problem(const std::string& name) {
  return "import torch\nfrom transformers import AutoConfig, AutoModelForCausalLM\n\n\n"
         "class Model(torch.nn.Module):\n"
         "    def __init__(self, model_name, config):\n"
         "        super().__init__()\n"
         "        self.model = AutoModelForCausalLM.from_pretrained(model_name, config=config)\n\n"
         "    def forward(self, x):\n"
         "        return self.model(x).logits\n\n\n"
         "model_name = \"" +
         name +
         "\"\nconfig = AutoConfig.from_pretrained(model_name)\nconfig.n_layer = 3\n\n\n"
         "def get_inputs():\n    return [torch.randint(0, config.vocab_size, (3, 20))]\n\n\n"
         "def get_init_inputs():\n    return [model_name, config]\n";
}

// A solution that does the same, with something replaced.
std::string level4_solution(const std::string& what = {}, const std::string& by = {}) {
  auto text = level4_problem("lab/tiny-1.3B");
  text.replace(text.find("class Model("), 12, "class ModelNew(");
  if (!what.empty()) {
    REQUIRE(text.find(what) != std::string::npos);
    text.replace(text.find(what), what.size(), by);
  }
  return text;
}

// Imports a file with this text; nothing without PyTorch or transformers.
std::optional<kevo::imported_task> import_level4(const shell::scratch& folder, const std::string& text) {
  shell::write_file(folder / "level4/1_tiny.py", text);
  shell::write_file(folder / "models/models--lab--tiny-1.3B/snapshots/aa/config.json", tiny_config);
  if (!kevo_test::has_pytorch()) return std::nullopt;
  auto made = kevo::import_kernelbench({.from = (folder / "level4").string(),
                                        .to = (folder / "tasks").string(),
                                        .models = (folder / "models").string()})
                  .front();
  if (made.problem.find("'transformers', which does not exist") != std::string::npos) {
    kevo_test::skip("the Python package transformers is not beside PyTorch");
    return std::nullopt;
  }
  return made;
}

}  // namespace

TEST_CASE("a model that a file takes by its name becomes a task, in which solutions are judged") {
  const shell::scratch folder;
  const auto made = import_level4(folder, level4_problem("lab/tiny-1.3B"));
  if (!made) return;
  REQUIRE_MESSAGE(made->problem.empty(), made->problem);
  CHECK(made->models == std::vector<std::string>{"lab/tiny-1.3B"});
  CHECK(made->varies.size() == 2);
  CHECK(made->checked);
  CHECK(made->accepted.empty());
  auto t = std::make_shared<kevo::task>(kevo::load_task(made->file));
  const auto init = boost::json::parse(t->reference->init).as_object();
  CHECK(init.at("args").at(1).at("values") == boost::json::value({{"n_layer", 3}}));
  CHECK(init.at("pretrained").at("lab/tiny-1.3B").at("n_layer") == 2);
  CHECK(t->outputs[0].shape.back() == "97");

  kevo::torch_fitness fitness(t, torch_corpus::warm_settings());
  const auto outcome_of = [&](const std::string& text) {
    const auto e = torch_corpus::evaluate(fitness, text, kevo::evaluation_stage::checked);
    INFO(torch_corpus::said(e));
    return e.outcome;
  };
  const auto same = torch_corpus::evaluate(fitness, level4_solution(), kevo::evaluation_stage::checked);
  CHECK_MESSAGE(same.valid(), torch_corpus::said(same));
  // Dropout, as in a model that from_config gives for training.
  CHECK(outcome_of(level4_solution(
            "self.model = AutoModelForCausalLM.from_pretrained(model_name, config=config)",
            "self.model = AutoModelForCausalLM.from_config(config)")) == kevo::outcome::incorrect);
  CHECK(outcome_of(level4_solution("self.model(x)", "self.model(x.flip(1))")) == kevo::outcome::incorrect);
  // Built of another model, it has no parameters that could be copied.
  CHECK(outcome_of(level4_solution("super().__init__()", "super().__init__(); config.n_layer = 2")) ==
        kevo::outcome::incorrect);
  // With a parameter more, its state is not the reference's; the weights of the model are the same all the
  // same.
  CHECK(outcome_of(level4_solution("super().__init__()",
                                   "super().__init__(); self.more = torch.nn.Parameter(torch.zeros(3))")) ==
        kevo::outcome::valid);
  const auto unknown = torch_corpus::evaluate(
      fitness, level4_solution("model_name = \"lab/tiny-1.3B\"", "model_name = \"other\""),
      kevo::evaluation_stage::checked);
  CHECK_FALSE(unknown.valid());
  CHECK_MESSAGE(
      torch_corpus::said(unknown).find("no configuration of the model 'other'") != std::string::npos,
      torch_corpus::said(unknown));
}

TEST_CASE(
    "a file whose model is unknown, or whose constructor takes what a task cannot contain, is left out") {
  const shell::scratch folder;
  const auto missing = import_level4(folder, level4_problem("lab/other"));
  if (!missing) return;
  CHECK_MESSAGE(missing->problem.find("no configuration of the model 'lab/other'") != std::string::npos,
                missing->problem);
  CHECK_MESSAGE(missing->problem.find((folder / "models").string()) != std::string::npos, missing->problem);

  auto text = level4_problem("lab/tiny-1.3B");
  text.replace(text.find("return [model_name, config]"), 27, "return [model_name, torch.nn.ReLU()]");
  text.replace(text.find("config=config)"), 14, "config=AutoConfig.from_pretrained(model_name))");
  const auto odd = import_level4(folder, text);
  CHECK_MESSAGE(odd->problem.find("argument 2 of the constructor is a ReLU, which a task cannot contain") !=
                    std::string::npos,
                odd->problem);
}
