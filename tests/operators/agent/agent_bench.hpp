#pragma once
// An agent before a scripted server, with a fitness function that judges drafts by the words in them.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "operators/agent/agent.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_server.hpp"

namespace agent_test {

using namespace kevo;

inline const std::string parent_text = "int a;\nint b;\n";

struct bench {
  agent op;
  std::string notes;
  std::size_t calls = 0;
  std::vector<std::string> drafts;
  std::vector<evaluation_stage> stages;  ///< that were asked for
  std::function<evaluation(const std::string&, evaluation_stage)> judge = [](const std::string& text,
                                                                             evaluation_stage wanted) {
    evaluation e;
    e.stage = wanted;
    e.outcome = has(text, "broken")                                         ? outcome::build_failed
                : has(text, "wrong") && wanted >= evaluation_stage::checked ? outcome::incorrect
                                                                            : outcome::valid;
    if (!e.valid()) e.stage = evaluation_stage::none;
    e.feedback = e.outcome == outcome::incorrect      ? "output Y differs at [3]: 1 instead of 2"
                 : e.outcome == outcome::build_failed ? "kernel.cpp:1: error: 'broken' was not declared"
                                                      : "kernel: 40 registers, 0 bytes spilled";
    e.baseline = "seed";
    e.measures = {{"code_bytes", 123}};
    if (wanted <= evaluation_stage::checked || !e.valid()) return e;
    e.score = e.speedup = has(text, "fast") ? 3 : has(text, "slow") ? 0.5 : 1;
    return e;
  };
  variation_request request;

  explicit bench(const scripted::server& server) {
    model_settings one{.name = "m",
                       .server = {.url = server.url(), .dialect = {.model = "m", .stream = false}}};
    one.server.retries.tries = 1;
    op.with.models = std::make_shared<language_models>(models_settings{.models = {one}});
    auto t = std::make_shared<task>();
    t->name = "t";
    request.task = t;
    auto parent = std::make_shared<candidate_snapshot>();
    parent->id = 5;
    parent->program = std::make_shared<const program>(single_file_program("text", "kernel.cpp", parent_text));
    parent->evaluation = std::make_shared<const evaluation>(judge(parent_text, evaluation_stage::timed_full));
    parent->operator_name = "seed";
    request.parents = {parent};
    variation_services s;
    s.note = [this](const std::string& text) { notes += text; };
    s.record = [this](const model_call&) { ++calls; };
    s.evaluate_until = [this](const program& p, evaluation_stage wanted) {
      drafts.emplace_back(p.text());
      stages.push_back(wanted);
      return judge(drafts.back(), wanted);
    };
    s.evaluate = [until = s.evaluate_until](const program& p) {
      return until(p, evaluation_stage::timed_full);
    };
    request.services = std::make_shared<const variation_services>(std::move(s));
  }
  variation_result vary() {
    rng random(1);
    return op.vary(request, random);
  }
};

inline std::string text_of(const variation_result& r) {
  const auto* p = std::get_if<proposal>(&r);
  return p != nullptr ? std::string(p->program.text()) : "none: " + std::get<no_proposal>(r).reason;
}

/// The text of the last tool message of a request.
inline std::string last_answer(const std::string& body) {
  const auto at = body.rfind("{\"role\":\"tool\"");
  return at == std::string::npos ? "" : body.substr(at, body.find(",\"tools\":", at) - at);
}

}  // namespace agent_test
