// An operator of your own that asks a language model, with its own prompt and its own way of reading the
// reply. `conversation` handles the connection, cassettes, the money limit and the journal. Here the replies
// are recorded, so that the example runs without a model.

#include <cstdio>
#include <fstream>
#include <string>

#include <kevo/kevo.hpp>
#include <kevo/operators/conversation.hpp>

// Asks for a better number and reads it from the line that begins with "Answer:".
struct ask_for_a_number {
  kevo::llm_settings with;
  std::string name() const { return "ask_for_a_number"; }
  bool replayable() const { return false; }  // a replay takes its proposals from the journal

  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    const kevo::candidate_snapshot& parent = *request.parents.front();
    kevo::conversation talk(with, name(), request, random);
    talk.say("We look for the number with the highest score. This is the best so far:\n\n" +
             kevo::parent_section(parent) +
             "\nThink, then answer with a line `Answer: ` and a better number.");
    return kevo::propose(talk, [&](const std::string& reply) -> kevo::draft {
      const auto at = reply.find("Answer: ");
      if (at == std::string::npos) return {{}, "I find no line that begins with `Answer: `."};
      return {kevo::with_main_file(*parent.program, reply.substr(at + 8, reply.find('\n', at) - at - 8)), {}};
    });
  }
};
static_assert(kevo::variation<ask_for_a_number>);

struct nearness_to_42 {
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const double x = std::stod(std::string(request.program->text()));
    kevo::evaluation result{.outcome = kevo::outcome::valid, .stage = request.wanted};
    result.score = 1000 / (1 + (x - 42) * (x - 42));
    return result;
  }
};

int main() {
  kevo::models_settings settings;
  settings.models = {
      {.name = "hand", .server = {.url = "http://localhost:8000/v1", .dialect = {.model = "my-model"}}}};
  settings.mode = kevo::cassette_mode::replay;  // off: asks the server
  settings.cassette_path = "examples/own_llm_operator.yaml";
  const auto models = kevo::make_language_models(settings);

  kevo::search_parts parts;
  parts.task = std::make_shared<const kevo::task>();
  parts.select = kevo::greedy{};
  parts.operators = {ask_for_a_number{{.models = models}}};
  parts.portfolio = kevo::ucb1{};
  parts.archive = kevo::top_k(10);
  parts.stop = kevo::stop::evaluations{4};
  kevo::search search(std::move(parts), {.seed = 1});
  search.add_seed(kevo::single_file_program("text", "number.txt", "7\n"), 0);
  kevo::run_to_end(search, nearness_to_42{}, [] { return 0.0; });

  const auto best = search.snapshot(search.best().id);
  std::printf("score %.0f: %s", search.best().score, std::string(best.program->text()).c_str());
  return best.program->text() == "42\n" ? 0 : 1;
}
