// timeout: 120
// configs/systems/kernelevolve.yaml with a scripted model: the journal shows that the page that a diagnosis
// asks for was retrieved, that constraints were in every prompt, that memory was drawn for each node, and
// that a skill was written back.

#include <filesystem>
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

TEST_CASE("kernelevolve retrieves the right page, draws memory for each node and writes a skill back") {
  scripted::server server([](const scripted::request& r) {
    if (has(r.body, "You distil what a successful change"))
      return scripted::says(
          "Technique: COUNT_HIGHER\nApplies when: always\nEvidence: it went up\nHardware: any\nBottlenecks: "
          "compute");
    if (has(r.body, "You do not write code in this step"))
      return scripted::says("It is low.\nBottleneck: memory\nQuery: histogram bins\nPages: tables");
    const auto n = 3 + static_cast<long long>(r.number);
    return scripted::says(scripted::value_reply(n % 5 == 0 && r.number % 3 != 0 ? n + 1 : n));
  });
  const scripted::project p("  models: [{name: m, url: \"http://127.0.0.1:1/v1\"}]\n", "");
  const std::string at = p.folder.string();
  shell::write_file(p.folder / "k/rule.md", "---\ntitle: Rule\nkind: constraints\n---\nRULE_FOR_ALL\n");
  shell::write_file(
      p.folder / "k/bins.md",
      "---\ntitle: Histograms\nkind: guidance\nbottlenecks: memory\n---\nPAGE_OF_BINS histogram\n");
  shell::write_file(p.folder / "k/sines.md", "---\ntitle: Sines\nkind: guidance\n---\nPAGE_OF_SINES waves\n");
  shell::write_file(p.folder / "k/tables.md", "---\ntitle: Tables\nkind: guidance\n---\nPAGE_OF_TABLES\n");
  const auto ended = shell::run(
      shell::kevo({"run", KEVO_SOURCE_DIR "/configs/systems/kernelevolve.yaml", "--json", "--set",
                   "run.output=run", "--set", "confirm.after=0", "--set", "task=" + at + "/task.yaml",
                   "--set",
                   "fitness={backend: command, command: [/bin/sh, score.sh], directory: \"" + at +
                       "\", sandbox: off}",
                   "--set", "llm.models=[{name: m, url: \"" + server.url() + "\", retries: {tries: 1}}]",
                   "--set", "llm.knowledge={folder: k, skills: skills}", "--set",
                   "vary.operators[0].memory.clean_slate=0.34", "--set", "stop={proposals: 30}"}),
      at);
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);

  const auto record = kevo::journal::open_read_only(at + "/run");
  std::map<std::string, int> scopes;
  record.for_each_event([&](const kevo::event& e) {
    const auto* told = std::get_if<kevo::variation_told>(&e.payload);
    if (told == nullptr || !told->program) return;
    CHECK(has(told->transcript, "[knowledge] bins"));
    CHECK(has(told->transcript, "[knowledge] tables"));  // which the diagnosis chose from the index
    const auto line = told->transcript.find("[memory] ");
    REQUIRE(line != std::string::npos);
    ++scopes[told->transcript.substr(line + 9, told->transcript.find('\n', line) - line - 9)];
  });
  CHECK(scopes.size() == 4);
  std::size_t written = 0;
  std::size_t distilled = 0;
  std::size_t with_skill = 0;
  record.for_each_model_call([&](kevo::ticket, std::int64_t number) {
    const auto calls = record.model_calls(std::vector{number});
    const std::string& prompt = calls.front().messages;
    distilled += calls.front().operator_name == "distill_skill" ? 1U : 0U;
    if (!has(prompt, "You act on one diagnosed bottleneck")) return;
    ++written;
    CHECK(has(prompt, "RULE_FOR_ALL"));
    CHECK(has(prompt, "PAGE_OF_BINS"));
    CHECK(!has(prompt, "PAGE_OF_SINES"));
    with_skill += has(prompt, "COUNT_HIGHER") ? 1U : 0U;
  });
  CHECK(written >= 30);
  CHECK(distilled >= 1);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(p.folder / "skills"))
    files += has(shell::read_file(file.path()), "title: COUNT_HIGHER") ? 1U : 0U;
  CHECK(files >= 1);
  MESSAGE(written << " prompts, " << distilled << " skills distilled, " << with_skill
                  << " prompts with a skill");
}
