#pragma once
// A variation request with a parent, and a language model behind a scripted server.

#include <functional>
#include <memory>
#include <string>

#include "operators/llm/operators.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_server.hpp"

namespace llm_test {

using namespace kevo;

inline const std::string parent_text =
    "#include <cstdint>\nextern \"C\" void run(const float* X, float* Y, int64_t N) {\n  for (int64_t i = 0; "
    "i < N; ++i) {\n"
    "    Y[i] = 2 * X[i];\n  }\n}\n";

inline std::shared_ptr<const candidate_snapshot> candidate(candidate_id id, const std::string& text,
                                                           double score, outcome what = outcome::valid,
                                                           const std::string& feedback = {}) {
  evaluation e;
  e.outcome = what;
  e.score = e.speedup = what == outcome::valid ? score : 0;
  e.baseline = "seed";
  e.feedback = feedback;
  e.workloads = {{.uuid = "visible", .axes = {{"N", 100}}, .time_ns = 1234},
                 {.uuid = "secret-shape", .axes = {{"N", 77}}, .hidden = true}};
  candidate_snapshot s;
  s.id = id;
  s.program = std::make_shared<const program>(single_file_program("cpp", "kernel.cpp", text));
  s.evaluation = std::make_shared<const evaluation>(e);
  s.operator_name = "tune";
  return std::make_shared<const candidate_snapshot>(std::move(s));
}

struct bench {
  std::shared_ptr<language_models> models;
  std::string notes;
  int drafts = 0;
  std::function<evaluation(const program&)> judge;
  variation_request request;

  explicit bench(const scripted::server& server, const std::string& knowledge = {}) {
    model_settings one{.name = "m",
                       .server = {.url = server.url(), .dialect = {.model = "m", .stream = false}}};
    one.server.retries.tries = 1;
    models = std::make_shared<language_models>(models_settings{.models = {one}, .knowledge = knowledge});
    auto t = std::make_shared<task>();
    t->name = "double";
    t->op_type = "elementwise";
    t->description = "Y = 2 X";
    t->axes = {{.name = "N"}};
    t->inputs = {{.name = "X", .shape = {"N"}, .dtype = "float32"}};
    t->outputs = {{.name = "Y", .shape = {"N"}, .dtype = "float32"}};
    t->workloads = {{.uuid = "visible", .axes = {{"N", 100}}},
                    {.uuid = "secret-shape", .axes = {{"N", 77}}, .hidden = true}};
    request.task = t;
    request.job = 1;
    request.parents = {candidate(3, parent_text, 1.5)};
    variation_services s;
    s.note = [this](const std::string& text) { notes += text; };
    s.evaluate = [this](const program& p) {
      ++drafts;
      return judge(p);
    };
    request.services = std::make_shared<const variation_services>(std::move(s));
  }
  llm_settings settings() const { return {.models = models}; }
  variation_result vary(any_variation op) {
    rng random(1);
    return op.vary(request, random);
  }
};

}  // namespace llm_test
