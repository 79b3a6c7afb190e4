// The formats for trainers, from a small run that is written by hand: a seed, and four replies of a model, of
// which three answer the same prompt.

#include "src/export/training.hpp"

#include <sstream>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/journal/random_run.hpp"

namespace {

namespace json = boost::json;

struct model_run {
  kevo_test::scratch_folder folder;
  kevo::journal record;
  std::uint64_t sequence = 0;
  kevo::ticket job = 0;

  static kevo::journal_header header() {
    kevo::journal_header h;
    h.run_name = "small";
    h.task_id = "abc";
    h.operators = {"llm"};
    return h;
  }

  model_run() : record(kevo::journal::create(folder / "run", header())) {
    emit(kevo::seeded{0, put("seed")});
    tell(0, kevo::outcome::valid, {1, 1});
    answer(1, "same", "faster", kevo::outcome::valid, {1.9, 2.1});
    answer(2, "same", "little", kevo::outcome::valid, {1.1, 1.3}, 1.2);
    answer(3, "same", "wrong", kevo::outcome::incorrect, {});
    answer(4, "other", "slower", kevo::outcome::valid, {0.4, 0.6}, 0.5);
    answer(5, "other", "cheat", kevo::outcome::rejected, {});
    // A call without a reply, and a variation that has not ended.
    const auto failed = ask();
    call(failed, "same", "");
    kevo::variation_told nothing{};
    nothing.job = failed;
    nothing.summary = "the model does not answer";
    emit(nothing);
    call(ask(), "same", "lost");
    record.commit();
  }

  void emit(decltype(kevo::event::what) what) {
    record.consume({++sequence, 0.5 * static_cast<double>(sequence), std::move(what)});
  }
  kevo::content_id put(const std::string& text) {
    const auto made = std::make_shared<const kevo::program>(kevo::single_file_program("cpp", "k.cpp", text));
    record.store().put_program(kevo::id_of(*made), made);
    return kevo::id_of(*made);
  }
  kevo::ticket ask() {
    emit(kevo::variation_asked{++job, {{0}, {}, kevo::memory_scope::both, false}, 0});
    return job;
  }
  void call(kevo::ticket of, const std::string& prompt, const std::string& reply) {
    kevo::model_call made;
    made.operator_name = "llm";
    made.model = "m";
    made.messages = json::serialize(json::array{json::object{{"role", "user"}, {"content", prompt}}});
    made.response = reply.empty() ? R"({"status": "timed_out"})"
                                  : json::serialize(json::object{{"status", "ok"}, {"content", reply}});
    made.token_ids = "[1,2,3]";
    made.policy_version = "step 7";
    record.append_model_call(of, 0.0, made);
  }
  void answer(kevo::candidate_id id, const std::string& prompt, const std::string& reply, kevo::outcome how,
              kevo::interval speedup, double value = 2) {
    const auto of = ask();
    call(of, prompt, reply);
    kevo::variation_told told{};
    told.job = of;
    told.program = put(reply);
    told.candidate = id;
    emit(told);
    tell(id, how, speedup, value);
  }
  void tell(kevo::candidate_id id, kevo::outcome how, kevo::interval speedup, double value = 1) {
    kevo::evaluation e;
    e.outcome = how;
    e.stage = kevo::evaluation_stage::timed_full;
    if (how == kevo::outcome::valid) {
      e.speedup = e.score = value;
      e.speedup_interval = speedup;
    }
    emit(kevo::evaluation_told{++job, id, e.stage, std::make_shared<const kevo::evaluation>(e), {}});
  }
};

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
  CHECK(summary.left_out.at("the variation had not ended") == 1);
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

TEST_CASE("the card says what was left out") {
  const model_run run;
  kevo::training_summary summary;
  written(run, kevo::export_sft, summary);
  const auto card = kevo::training_card(run.record, "sft", {}, summary);
  CHECK(card.find("rows: 2") != std::string::npos);
  CHECK(card.find("* no reply of a model: 1") != std::string::npos);
}
