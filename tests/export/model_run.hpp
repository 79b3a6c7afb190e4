#pragma once
// A small run with replies of a model, written by hand: a seed, and replies of which three answer the same
// prompt.

#include <memory>
#include <string>

#include <boost/json.hpp>

#include "tests/journal/random_run.hpp"

namespace kevo_test {

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

  void emit(decltype(kevo::event::payload) what) {
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
  void tell(kevo::candidate_id id, kevo::outcome how, kevo::interval speedup, double value = 1,
            kevo::evaluation_stage stage = kevo::evaluation_stage::timed_full) {
    kevo::evaluation e;
    e.outcome = how;
    e.stage = stage;
    if (how == kevo::outcome::valid) {
      e.speedup = e.score = value;
      e.speedup_interval = speedup;
    }
    emit(kevo::evaluation_told{++job, id, e.stage, std::make_shared<const kevo::evaluation>(e), {}});
  }
};

}  // namespace kevo_test
