// A run's candidates on several devices: who is on the front, and what is left out.

#include "src/report/device_front.hpp"

#include <cmath>
#include <map>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "src/journal/rejudged.hpp"
#include "tests/journal/random_run.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

// Names of its own, because the tests of a folder are compiled together.
namespace device_front {
namespace {

kevo::evaluation timed(const std::string& device, double speedup,
                       kevo::outcome found = kevo::outcome::valid) {
  kevo::evaluation e;
  e.outcome = found;
  e.speedup = e.score = found == kevo::outcome::valid ? speedup : 0;
  e.speedup_interval = {0.99 * e.speedup, 1.01 * e.speedup};
  e.stage = kevo::evaluation_stage::confirmed;
  e.device = device;
  e.protocol = "cuda 8";
  return e;
}

/// Candidates 0, 1, ... with these speedups on "one", the device of the run.
struct run_on_one {
  scratch_folder folder;
  kevo::journal record = kevo::journal::create(folder / "run", example_header());
  kevo::rejudged_file judged = kevo::rejudged_file::open(folder / "run");

  explicit run_on_one(const std::vector<double>& speedups) {
    std::uint64_t sequence = 0;
    for (kevo::candidate_id id = 0; id < speedups.size(); ++id) {
      const auto source = std::make_shared<const kevo::program>(
          kevo::single_file_program("cuda", "k.cu", "// " + std::to_string(id) + "\n"));
      record.store().put_program(kevo::id_of(*source), source);
      record.consume({++sequence, 1.0, kevo::seeded{id, kevo::id_of(*source)}});
      record.consume(
          {++sequence, 2.0,
           kevo::evaluation_told{id + 1,
                                 id,
                                 kevo::evaluation_stage::confirmed,
                                 std::make_shared<const kevo::evaluation>(timed("one", speedups[id])),
                                 {kevo::archive_status::new_cell, 0.5}}});
    }
    record.commit();
  }
  void judge(kevo::candidate_id id, const kevo::evaluation& found) {
    judged.append(
        {.judged_at = "2026-11-25T00:00:00Z",
         .kevo_version = "1",
         .candidate = id,
         .program = std::to_string(id),
         .rules = {.task_id = "t", .protocol = found.protocol, .device = found.device, .fitness = ""},
         .verdict = "undecided",
         .reason = "",
         .result = found});
  }
};

}  // namespace

TEST_CASE("the front holds what no other candidate beats on every device") {
  run_on_one run({2.0, 1.5, 1.4, 3.0, 2.5, 9.0});
  CHECK(kevo::compare_devices(run.record).rows.empty());
  CHECK(kevo::devices_text(kevo::compare_devices(run.record), false).find("kevo rejudge") !=
        std::string::npos);
  run.judge(0, timed("two", 1.0));
  run.judge(1, timed("two", 3.0));
  run.judge(2, timed("two", 2.9));                          // worse than 1 on both
  run.judge(3, timed("two", 0, kevo::outcome::incorrect));  // right on one device alone
  run.judge(4, timed("one", 2.4));                          // never seen on another device
  run.judge(0, timed("two", 1.1));                          // the latest counts
  const auto all = kevo::compare_devices(run.record);
  CHECK(all.devices == std::vector<std::string>{"one", "two"});
  REQUIRE(all.rows.size() == 4);
  std::map<kevo::candidate_id, kevo::device_row> rows;
  for (const auto& row : all.rows) rows[row.id] = row;
  CHECK(rows.at(0).front);
  CHECK(rows.at(0).on.at("two").speedup == 1.1);
  CHECK(rows.at(1).front);
  CHECK_FALSE(rows.at(2).front);
  CHECK_FALSE(rows.at(3).front);
  CHECK(rows.at(3).mean == 0);
  CHECK(all.rows.front().id == 1);
  CHECK(rows.at(1).mean == doctest::Approx(2.1213).epsilon(0.001));
  CHECK(all.rows.back().id == 3);

  const auto text = kevo::devices_text(all, false);
  CHECK(text.find("  #1         yes    2.121 [2.106, 2.136]  1.500x [1.485, 1.515]  3.000x [2.970, 3.030]") !=
        std::string::npos);
  CHECK(text.find("incorrect") != std::string::npos);
  const auto object = boost::json::parse(kevo::devices_json(all)).as_object();
  CHECK(object.at("candidates").as_array().size() == 4);
  CHECK(object.at("candidates").at(0).at("on").at("two").at("speedup").as_double() == 3.0);
  // Half widths of 1 % on two devices give 1 % / sqrt(2).
  const auto& range = object.at("candidates").at(0).at("mean_interval").as_array();
  CHECK(range.at(0).as_double() == doctest::Approx(2.1213 * std::exp(std::log(0.99) / std::sqrt(2.0))));
  CHECK(range.at(1).as_double() == doctest::Approx(2.1213 * std::exp(std::log(1.01) / std::sqrt(2.0))));
  CHECK(object.at("candidates").at(3).at("mean").is_null());
  CHECK(object.at("candidates").at(3).at("mean_interval").is_null());
}

}  // namespace device_front
