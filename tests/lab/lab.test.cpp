// timed
// timeout: 600
// build: optimized
// once: a policy that was trained on other kernels*
// The laboratory as a user meets it: results, resuming after a kill, errors, Ctrl-C, docs.

#include "src/lab/lab.hpp"

#include <chrono>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace json = boost::json;

namespace {

const std::string quick = KEVO_SOURCE_DIR "/configs/lab/quick.yaml";

std::vector<std::string> lab(const shell::scratch& folder, std::vector<std::string> more,
                             const std::string& config = quick) {
  std::vector<std::string> words = {"lab", config, "--set", "lab.output=" + (folder / "out").string()};
  words.insert(words.end(), more.begin(), more.end());
  return shell::kevo(words);
}
shell::result run(const shell::scratch& folder, std::vector<std::string> more,
                  const std::string& config = quick) {
  return shell::run(lab(folder, std::move(more), config), folder.string());
}
const std::vector<std::string> tiny = {"--set", "lab.seeds=4", "--set", "budget.at=[10, 30]"};
std::vector<std::string> with(std::vector<std::string> first, const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}
std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a lab writes its table, curves and page, and finished searches are not run again") {
  const shell::scratch folder;
  const auto first = run(folder, with({"--json"}, tiny));
  REQUIRE_MESSAGE(first.code == 0, first.out << first.err);
  const json::object told = json::parse(first.out).as_object();
  CHECK(told.at("cells").to_number<int>() == 16);
  CHECK(told.at("reused").to_number<int>() == 0);
  CHECK(told.at("policies").as_array().size() == 8);
  CHECK(told.at("differences").as_array().size() == 10);
  const std::string table = shell::read_file(folder / "out/table.csv");
  CHECK(lines_in(table) == 9);
  const std::string page = shell::read_file(folder / "out/lab.html");
  CHECK(page.find("<svg") != std::string::npos);
  CHECK(page.find("=\"http") == std::string::npos);  // nothing is fetched
  CHECK(page.find("<script") == std::string::npos);
  for (const char* axis : {",evaluations,", ",proposals,", ",cost,"})
    CHECK(shell::read_file(folder / "out/curves.csv").find(axis) != std::string::npos);

  // A torn last line is what kill -9 leaves: its cell alone is run again, with the same result.
  const std::string kept = shell::read_file(folder / "out/cells.jsonl");
  CHECK(lines_in(kept) == 16);
  shell::write_file(folder / "out/cells.jsonl", kept.substr(0, kept.size() - 20));
  const auto again = run(folder, with({"--json"}, tiny));
  REQUIRE_MESSAGE(again.code == 0, again.out << again.err);
  CHECK(json::parse(again.out).at("reused").to_number<int>() == 15);
  CHECK(shell::read_file(folder / "out/table.csv") == table);
  // More policies or seeds use what is there; another problem does not.
  const auto more = run(folder, with(with({"--json"}, tiny), {"--set", "lab.seeds=5"}));
  CHECK(json::parse(more.out).at("reused").to_number<int>() == 16);
  const auto other = run(folder, with(with({"--json"}, tiny), {"--set", "problem.steps=5"}));
  CHECK(json::parse(other.out).at("reused").to_number<int>() == 0);
}

TEST_CASE("a lab that is killed or interrupted goes on where it was") {
  const shell::scratch folder;
  const std::vector<std::string> longer = {"--json", "--set", "lab.seeds=60", "--set", "budget.at=[1000]"};
  const auto wait_for_cells = [&] {
    for (int i = 0; i < 600 && lines_in(shell::read_file(folder / "out/cells.jsonl")) < 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  shell::running killed(lab(folder, longer), folder.string());
  wait_for_cells();
  killed.signal(SIGKILL);
  CHECK(killed.wait().code == 128 + SIGKILL);
  const std::size_t kept = lines_in(shell::read_file(folder / "out/cells.jsonl"));
  REQUIRE(kept >= 3);
  shell::running interrupted(lab(folder, longer), folder.string());
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  interrupted.signal(SIGINT);
  const auto ended = interrupted.wait();
  CHECK(ended.code == 130);
  const json::object told = json::parse(ended.out).as_object();
  CHECK(told.at("reused").to_number<std::size_t>() == kept);
  CHECK(told.at("interrupted").as_bool());
}

TEST_CASE("what is wrong in a config is told with its place") {
  const shell::scratch folder;
  const auto wrong = [&](const std::string& assignment, const std::string& key) {
    const auto ended = run(folder, {"--json", "--set", assignment});
    CHECK_MESSAGE(ended.code == 2, assignment << ended.out << ended.err);
    const json::object said = json::parse(ended.out).at("error").as_object();
    CHECK_MESSAGE(said.at("key").as_string() == key, ended.out);
  };
  wrong("problem.stepss=3", "problem.stepss");
  wrong("problem.type=hill", "problem.type");
  wrong("budget.at=[5, 5]", "budget.at");
  wrong("lab.seeds=1", "lab.seeds");
  wrong("policies[1].name=random", "policies[1].name");
  wrong("policies[1].select.type=gredy", "policies[1].select.type");
  wrong("policies[1].selekt=1", "policies[1].selekt");
  wrong("compare=[{against: nobody}]", "compare[0].against");
  wrong("problem={type: recorded, file: gone.json}", "problem.file");
  wrong("problem={type: recorded}", "problem.file");
  wrong("problem={type: recorded, file: ../spaces/made_up_convolution.json, start: best}", "problem.start");
  const std::string config = (folder / "bad.yaml").string();
  shell::write_file(config, "lab: {name: x}\nproblem: {type: landscape}\nbudget: {at: [10]}\npolicies: 3\n");
  const auto ended = run(folder, {}, config);
  CHECK(ended.code == 2);
  CHECK_MESSAGE(ended.err.find("bad.yaml:4") != std::string::npos, ended.err);
}

TEST_CASE("every shipped lab config is right") {
  for (const auto& file : std::filesystem::directory_iterator(KEVO_SOURCE_DIR "/configs/lab")) {
    // It trains a policy for a long time, and has a case of its own below.
    if (file.path().filename() == "ordered_steps.yaml") continue;
    // Ablations evaluate programs: tests/lab/ablation.test.cpp.
    if (file.path().string().ends_with("_ablation.yaml")) continue;
    const shell::scratch folder;
    const auto ended = run(folder, {"--set", "lab.seeds=2", "--set", "budget.at=[12]"}, file.path().string());
    CHECK_MESSAGE(ended.code == 0, file.path().string() << ended.out << ended.err);
  }
}

TEST_CASE("the statistics are those of the books") {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  const kevo::estimate mean = kevo::mean_with_interval(values, 0.95);
  CHECK(mean.value == doctest::Approx(3));
  CHECK(mean.range.high - 3 == doctest::Approx(2.7764451 * std::sqrt(0.5)));  // t(0.975, 4)
  const std::vector<double> gaps = {1, 2, 3};
  CHECK(kevo::p_of_zero_mean(gaps) == doctest::Approx(0.0741799));  // t = 2 sqrt(3), 2 degrees of freedom
  const std::vector<double> p = {0.01, 0.04, 0.03};
  const std::vector<double> adjusted = kevo::holm(p);
  CHECK(adjusted[0] == doctest::Approx(0.03));
  CHECK(adjusted[1] == doctest::Approx(0.06));
  CHECK(adjusted[2] == doctest::Approx(0.06));
  const kevo::estimate median = kevo::median_with_interval(values, 0.95);
  CHECK(median.value == 3);
  CHECK(median.range.low >= 1);
  CHECK(median.range.high <= 5);
  CHECK(kevo::share_of_optimum(1, 8) == 0);
  CHECK(kevo::share_of_optimum(2, 8) == doctest::Approx(1.0 / 3));
}

TEST_CASE(
    "a policy that was trained on other kernels finds an order of steps sooner than uniform choice, and by "
    "types alone later") {
  const shell::scratch folder;
  const auto done = run(folder, {"--json", "--set", "lab.seeds=20", "--set", "budget.at=[20]"},
                        KEVO_SOURCE_DIR "/configs/lab/ordered_steps.yaml");
  REQUIRE_MESSAGE(done.code == 0, done.out << done.err);
  const json::object told = json::parse(done.out).as_object();
  std::size_t checked = 0;
  for (const auto& one : told.at("differences").as_array()) {
    const auto& pair = one.as_object();
    if (pair.at("policy").as_string() != "trained") continue;
    CHECK(pair.at("interval").as_array().at(0).to_number<double>() > 0.1);
    CHECK(pair.at("p_holm").to_number<double>() < 0.01);
    ++checked;
  }
  CHECK(checked == 2);  // against uniform, and against the kinds alone
}
