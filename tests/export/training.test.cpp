// The formats for trainers, from a small run that is written by hand: a seed, and four replies of a model, of
// which three answer the same prompt.

#include "src/export/training.hpp"

#include <map>
#include <optional>
#include <sstream>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/export/model_run.hpp"

namespace {

namespace json = boost::json;
using kevo_test::model_run;

std::vector<json::object> lines_of(const std::string& text) {
  std::vector<json::object> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line).as_object());
  return all;
}

template <class Write>
std::vector<json::object> written(const model_run& run, const Write& write, kevo::training_summary& summary,
                                  const kevo::training_options& options = {}) {
  std::ostringstream out;
  summary = write(run.record, options, out);
  auto lines = lines_of(out.str());
  CHECK(lines.size() == summary.rows);
  return lines;
}

}  // namespace

TEST_CASE("trajectories hold every turn, the result, and the rewards of all recipes") {
  const model_run run;
  kevo::training_summary summary;
  const auto rows = written(run, kevo::export_trajectories, summary);
  REQUIRE(rows.size() == 5);
  CHECK(summary.left_out.at("no reply of a model") == 1);
  CHECK(summary.left_out.at("the turn had not ended") == 1);
  const auto& first = rows.front();
  const auto& turn = first.at("turns").as_array().at(0).as_object();
  CHECK(turn.at("reply").as_string() == "faster");
  CHECK(turn.at("messages").as_array().at(0).as_object().at("content").as_string() == "same");
  CHECK(turn.at("token_ids") == json::array{1, 2, 3});
  CHECK(first.at("policy_version").as_string() == "step 7");
  CHECK(first.at("rewards").as_object().at("kernel_smith").to_number<double>() == 2);
  CHECK(first.at("rewards").as_object().at("dr_kernel").to_number<double>() == 3);
  CHECK(rows.at(4).at("result").as_object().at("outcome").as_string() == "rejected");
  for (const auto& [recipe, reward] : rows.at(4).at("rewards").as_object())
    CHECK(reward.to_number<double>() == 0);
  CHECK(first.at("group") == rows.at(2).at("group"));
  CHECK(first.at("group") != rows.at(3).at("group"));
}

TEST_CASE("fine-tuning gets replies whose programs are correct and faster than their parents") {
  const model_run run;
  kevo::training_summary summary;
  const auto rows = written(run, kevo::export_sft, summary);
  REQUIRE(rows.size() == 2);
  const auto& messages = rows.front().at("messages").as_array();
  REQUIRE(messages.size() == 2);
  CHECK(messages.at(1).as_object().at("role").as_string() == "assistant");
  CHECK(messages.at(1).as_object().at("content").as_string() == "faster");
  CHECK(summary.left_out.at("the program is not faster than its parent") == 1);
  CHECK(summary.left_out.at("the program is not correct, cheated, or breaks a rule") == 2);

  kevo::training_summary confirmed;
  CHECK(written(run, kevo::export_sft, confirmed, {.confirmed = true}).empty());
  CHECK(confirmed.left_out.at("the result was not confirmed") == 3);
}

TEST_CASE("preferences are pairs of replies to one prompt that differ by more than noise") {
  const model_run run;
  kevo::training_summary summary;
  const auto rows = written(run, kevo::export_dpo, summary);
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto text = [](const json::value& side) {
    return std::string(side.as_array().at(0).as_object().at("content").as_string());
  };
  for (const auto& row : rows) pairs.emplace_back(text(row.at("chosen")), text(row.at("rejected")));
  CHECK(pairs ==
        decltype(pairs){{"faster", "little"}, {"faster", "wrong"}, {"little", "wrong"}, {"slower", "cheat"}});
}

TEST_CASE("advantages are those of the group of replies to one prompt") {
  const model_run run;
  kevo::training_summary summary;
  const auto rows = written(run, kevo::export_grpo, summary, {.recipe = "kernel_smith"});
  REQUIRE(rows.size() == 5);
  // Rewards of the first group: 2, 1.2, 0, whose mean is 16 / 15.
  CHECK(rows[0].at("reward").to_number<double>() == doctest::Approx(2));
  CHECK(rows[0].at("group_size").to_number<int>() == 3);
  CHECK(rows[0].at("advantage_trloo").to_number<double>() == doctest::Approx(2 - 0.6));
  CHECK(rows[2].at("advantage_trloo").to_number<double>() == doctest::Approx(-1.6));
  CHECK(rows[0].at("advantage_grpo").to_number<double>() > 0);
  CHECK(rows[0].at("reward_model").as_object().at("style").as_string() == "rule");
  CHECK_THROWS_AS(written(run, kevo::export_grpo, summary, {.recipe = "no such"}), kevo::error);
}

TEST_CASE("several replies of one variation are a group, also those without a program") {
  model_run run;
  const auto of = run.ask();
  const auto sample = [&](std::int64_t number, const std::string& reply, const std::string& by = "llm") {
    kevo::model_call made;
    made.operator_name = by;
    made.model = "m";
    made.sample = number;
    made.messages = R"([{"role":"user","content":"many"}])";
    made.response = json::serialize(json::object{{"status", "ok"}, {"content", reply}});
    if (by == "llm") made.sampling = R"({"sample":)" + std::to_string(number) + R"(,"samples":4})";
    run.record.append_model_call(of, 0.0, made);
  };
  const auto tell = [&](std::uint32_t number, kevo::candidate_id id, const std::string& text, bool further) {
    kevo::variation_told told{};
    told.job = of;
    told.program = run.put(text);
    told.candidate = id;
    told.duplicate = id < 6;
    told.sample = number;
    told.further = further;
    run.emit(told);
  };
  for (const auto& [number, reply] :
       {std::pair(2, "good"), std::pair(0, "no code"), std::pair(3, "faster"), std::pair(1, "better")})
    sample(number, reply);
  sample(0, "these two are the same", "judge");
  tell(2, 6, "good", true);
  tell(3, 1, "faster", true);  // known: the result of candidate 1 counts
  tell(1, 7, "better", false);
  run.tell(6, kevo::outcome::valid, {1.4, 1.6}, 1.5);
  run.tell(7, kevo::outcome::valid, {2.9, 3.1}, 3);
  run.record.commit();

  kevo::training_summary summary;
  std::map<std::string, double> rewards;
  for (const auto& row : written(run, kevo::export_grpo, summary, {.recipe = "kernel_smith"})) {
    if (row.at("group_size").to_number<int>() != 4) continue;
    CHECK(row.at("prompt").as_array().at(0).as_object().at("content").as_string() == "many");
    rewards[std::string(row.at("completion").as_array().at(0).as_object().at("content").as_string())] =
        row.at("reward").to_number<double>();
  }
  CHECK(rewards ==
        std::map<std::string, double>{{"good", 1.5}, {"faster", 2}, {"better", 3}, {"no code", 0}});
  CHECK(written(run, kevo::export_sft, summary).size() == 2 + 3);
  for (const auto& row : written(run, kevo::export_trajectories, summary)) {
    if (row.at("turns").as_array().at(0).as_object().at("reply") != "better") continue;
    CHECK(row.at("turns").as_array().size() == 1);
    CHECK(row.at("candidate").to_number<int>() == 7);
  }
}

TEST_CASE(
    "best steps are the prompts at which a program was faster than all before it, with all replies to them") {
  const model_run run;
  kevo::training_summary summary;
  const kevo::training_options options{.best_steps = true};
  const auto rows = written(run, kevo::export_grpo, summary, options);
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) {
    CHECK(row.at("prompt").as_array().at(0).as_object().at("content").as_string() == "same");
    CHECK(row.at("group_size") == 3);
  }
  CHECK(summary.left_out.at("no reply to the prompt gave a program faster than all before it") == 2);
  CHECK(written(run, kevo::export_sft, summary, options).size() == 2);
}

TEST_CASE("a program that is faster than its parent, but not than an earlier one, is no best step") {
  model_run run;
  run.answer(6, "third", "less", kevo::outcome::valid, {1.4, 1.6}, 1.5);  // parent 1, before: 2
  run.answer(7, "fourth", "most", kevo::outcome::valid, {2.4, 2.6}, 2.5);
  run.record.commit();
  kevo::training_summary summary;
  const auto rows = written(run, kevo::export_sft, summary, {.best_steps = true});
  REQUIRE(rows.size() == 3);
  CHECK(rows.back().at("candidate") == 7);
}

TEST_CASE("the card says what was left out") {
  const model_run run;
  kevo::training_summary summary;
  written(run, kevo::export_sft, summary);
  const auto card = kevo::training_card(run.record, "sft", {}, summary);
  CHECK(card.find("rows: 2") != std::string::npos);
  CHECK(card.find("* no reply of a model: 1") != std::string::npos);
}

TEST_CASE("a jump of the speedup earns CUDA-L1's reward only if a second measurement supports it") {
  model_run run;
  const auto confirmed = kevo::evaluation_stage::confirmed;
  run.answer(6, "jumps", "once", kevo::outcome::valid, {3.9, 4.1}, 4);
  run.answer(7, "jumps", "contradicted", kevo::outcome::valid, {5.9, 6.1}, 6);
  run.tell(7, kevo::outcome::valid, {5.1, 5.2}, 5.15, confirmed);
  run.answer(8, "jumps", "supported", kevo::outcome::valid, {3.9, 4.1}, 4);
  run.tell(8, kevo::outcome::valid, {3.8, 3.9}, 3.85, confirmed);
  // More than twice the best of all before: the jumps without support do not count.
  run.answer(9, "jumps", "small", kevo::outcome::valid, {2.9, 3.0}, 2.95);
  run.record.commit();
  kevo::training_summary summary;
  const auto replies = [&](const kevo::training_options& options) {
    std::vector<std::string> all;
    for (const auto& row : written(run, kevo::export_grpo, summary, options)) {
      if (row.at("prompt").as_array().at(0).as_object().at("content") == "jumps")
        all.emplace_back(row.at("completion").as_array().at(0).as_object().at("content").as_string());
    }
    return all;
  };
  CHECK(replies({.recipe = "cuda_l1"}) == std::vector<std::string>{"supported", "small"});
  CHECK(summary.left_out.at("the speedup is a jump that was not measured twice") == 1);
  CHECK(summary.left_out.at("two measurements of the speedup differ by more than 10 %") == 1);
  CHECK(replies({.recipe = "dr_kernel"}).size() == 4);
  std::map<std::string, json::value> rewards;
  for (const auto& row : written(run, kevo::export_trajectories, summary)) {
    rewards[std::string(row.at("turns").as_array().at(0).as_object().at("reply").as_string())] =
        row.at("rewards").as_object().at("cuda_l1");
  }
  CHECK(rewards.at("once").is_null());
  CHECK(rewards.at("contradicted").is_null());
  CHECK(rewards.at("supported").to_number<double>() == doctest::Approx(3.85));
}

TEST_CASE("a program that breaks a rule of one's own earns nothing, and the card names the rule") {
  const model_run run;
  const kevo::training_options options{
      .recipe = "kernel_smith",
      .rules = {{"no_f", [](const kevo::program& source, const kevo::evaluation&) {
                   return source.files.front().text.find('f') == std::string::npos
                              ? std::optional<std::string>()
                              : std::optional<std::string>("the source contains an f");
                 }}}};
  kevo::training_summary summary;
  const auto rows = written(run, kevo::export_grpo, summary, options);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].at("reward").to_number<double>() == 0);  // faster
  CHECK(rows[0].at("reward_terms").as_object().at("broken_rules") ==
        json::array{json::object{{"rule", "no_f"}, {"reason", "the source contains an f"}}});
  CHECK(rows[1].at("reward").to_number<double>() == doctest::Approx(1.2));  // little
  CHECK(kevo::training_card(run.record, "grpo", options, summary).find(", with the rule no_f") !=
        std::string::npos);
}
