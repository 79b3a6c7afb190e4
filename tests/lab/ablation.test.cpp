// timeout: 300
// one processor
// build: optimized
// An ablation as a user meets it: the table, a wrong variant, resuming, Ctrl-C, errors with their place. The
// program of these tests has parts whose absence makes it several times slower.

#include "src/lab/ablation.hpp"

#include <chrono>
#include <thread>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace json = boost::json;

namespace {

struct ablation_project {
  shell::scratch folder;

  ablation_project() {
    shell::write_file(
        folder / "reference.cpp",
        "#include <cstdint>\nextern \"C\" void reference(const double* X, double* Y, int64_t K) "
        "{\n  for (int64_t i = 0; i < K; ++i) Y[i] = 2 * X[i];\n}\n");
    // Stores to volatile memory are neither merged nor vectorized.
    shell::write_file(folder / "program.cpp",
                      "#include <cstdint>\n"
                      "#define PASSES 1   // kevo: {1, 3, 9}\n"
                      "#define VECTORS 1  // kevo: {0, 1}\n"
                      "#define WHOLE 1    // kevo: {0, 1}\n"
                      "#define FACTOR 2   // kevo: {2, 3}\n"
                      "// kevo: require PASSES * FACTOR <= 18\n"
                      "extern \"C\" void run(const float* X, float* Y, int64_t K) {\n"
                      "  volatile float* slow = Y;\n"
                      "  for (int p = 1; p < PASSES; ++p)\n"
                      "    for (int64_t i = 0; i < K; ++i) slow[i] = 0;\n"
                      "  for (int64_t i = 0; i < (WHOLE ? 0 : K); ++i) slow[i] = 1;\n"
                      "  if (VECTORS)\n"
                      "    for (int64_t i = 0; i < K; ++i) Y[i] = FACTOR * X[i];\n"
                      "  else\n"
                      "    for (int64_t i = 0; i < K; ++i) slow[i] = FACTOR * X[i];\n"
                      "}\n");
    shell::write_file(
        folder / "task.yaml",
        "name: twice\nop_type: scale\ndescription: Y = 2 X\naxes: {K: {type: var}}\n"
        "inputs: {X: {shape: [K], dtype: float32}}\noutputs: {Y: {shape: [K], dtype: float32}}\n"
        "reference: {language: cpp, file: reference.cpp}\n"
        "workloads: [{uuid: small, axes: {K: 8192}}, {uuid: large, axes: {K: 16384}}, "
        "{uuid: odd, axes: {K: 131}, hidden: true}]\n"
        "tolerance: {max_atol: 1.0e-5, max_rtol: 1.0e-5}\nseeds: [program.cpp]\n");
    config("    passes: {PASSES: 9}\n    vectors: {VECTORS: 0}\n    factor: {FACTOR: 3}\n");
  }
  void config(const std::string& parts, const std::string& more = {}) const {
    shell::write_file(folder / "lab.yaml",
                      "lab: {name: parts, output: out}\n"
                      "fitness: {backend: cpu, timing: {short: 0.02, full: 0.1, sustained: 0}}\n"
                      "ablation:\n  task: task.yaml\n  program: program.cpp\n  repeats: 2\n  without:\n" +
                          parts + more);
  }
  std::vector<std::string> words(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"lab", "lab.yaml"});
    return shell::kevo(std::move(more));
  }
  shell::result lab(std::vector<std::string> more = {}) const {
    return shell::run(words(std::move(more)), folder.string());
  }
  json::object measured(std::vector<std::string> more = {}) const {
    more.push_back("--json");
    const auto ended = lab(std::move(more));
    REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
    return json::parse(ended.out).as_object();
  }
  std::string file(const std::string& name) const { return shell::read_file(folder / ("out/" + name)); }
};

json::object variant(const json::object& told, std::string_view name) {
  for (const auto& one : told.at("variants").as_array()) {
    if (one.at("variant").as_string() == name) return one.as_object();
  }
  throw std::logic_error("no variant " + std::string(name));
}
double ratio_low(const json::object& one) {
  return one.at("ratio").at("interval").as_array().at(0).to_number<double>();
}

}  // namespace

TEST_CASE("the variant without a part is slower, and an incorrect one has its verdict and no time") {
  const ablation_project own;
  const json::object told = own.measured();
  CHECK(told.at("evaluations").to_number<int>() == 8);  // the check, 2 of 3 variants, 1 of the incorrect one
  const json::object full = variant(told, "full");
  CHECK(full.at("ratio").at("value").to_number<double>() == doctest::Approx(1).epsilon(0.3));
  CHECK(full.at("evaluations").to_number<int>() == 2);
  const json::object passes = variant(told, "without passes");
  CHECK(ratio_low(passes) > 1.5);
  CHECK(passes.at("time_ns").at("value").to_number<double>() >
        full.at("time_ns").at("value").to_number<double>());
  CHECK(passes.at("tunables").at("PASSES").as_string() == "9");
  REQUIRE(passes.at("workloads").as_array().size() == 2);  // hidden ones are checked and not shown
  CHECK(passes.at("workloads").at(1).at("uuid").as_string() == "large");
  CHECK(passes.at("measures").as_object().contains("code_bytes"));
  CHECK(variant(told, "without vectors").at("outcome").as_string() == "valid");
  const json::object wrong = variant(told, "without factor");
  CHECK(wrong.at("outcome").as_string() == "incorrect");
  CHECK(wrong.at("failure").as_string().starts_with("incorrect: "));
  CHECK(wrong.at("time_ns").is_null());
  CHECK(wrong.at("ratio").is_null());

  // Everything is there: nothing is evaluated, and the files say the same.
  const auto again = own.lab({"--set", "ablation.measures=[code_bytes]"});
  REQUIRE_MESSAGE(again.code == 0, again.err);
  CHECK_MESSAGE(again.out.find("\nwithout factor   incorrect: ") != std::string::npos, again.out);
  CHECK_MESSAGE(again.out.find("code_bytes") != std::string::npos, again.out);
  CHECK_MESSAGE(again.out.find("0 evaluations, 8 from earlier starts") != std::string::npos, again.out);
  CHECK(json::parse(own.file("ablation.json")).at("variants") == told.at("variants"));
  const std::string table = own.file("table.csv");
  CHECK_MESSAGE(table.find("\r\nwithout passes,without,passes,valid,2,") != std::string::npos, table);
  CHECK(own.file("workloads.csv").find("without vectors,large,") != std::string::npos);
  CHECK(own.file("config.yaml").find("stage: confirmed") != std::string::npos);
  const std::string page = own.file("lab.html");
  CHECK(page.find("without vectors") != std::string::npos);
  CHECK(page.find("class=\"why\">incorrect: ") != std::string::npos);
  CHECK(page.find("=\"http") == std::string::npos);  // nothing is fetched
  CHECK(page.find("<script") == std::string::npos);

  // More evaluations of each, and one line that was cut off.
  const std::string kept = own.file("evaluations.jsonl");
  shell::write_file(own.folder / "out/evaluations.jsonl", kept.substr(0, kept.size() - 20));
  const json::object more = own.measured({"--set", "ablation.repeats=3"});
  CHECK(more.at("reused").to_number<int>() == 7);
  CHECK(more.at("evaluations").to_number<int>() == 4);
  CHECK(variant(more, "full").at("evaluations").to_number<int>() == 3);
}

TEST_CASE("parts alone: all others of the list are off") {
  const ablation_project own;
  own.config(
      "    passes: {PASSES: 9}\n    vectors: {VECTORS: 0}\n    whole: {WHOLE: 0}\n    few: {PASSES: 3}\n",
      "  alone: [passes, vectors, whole]\n");
  const auto plan = kevo::plan_ablation(kevo::read_config((own.folder / "lab.yaml").string(), {}));
  std::vector<std::string> names;
  for (const auto& one : plan.variants) names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"full", "without passes", "without vectors", "without whole",
                                          "without few", "only passes", "only vectors", "only whole",
                                          "none"});
  using values = std::map<std::string, std::string>;
  CHECK(plan.variants[5].tunables == values{{"VECTORS", "0"}, {"WHOLE", "0"}});
  CHECK(plan.variants[8].tunables == values{{"PASSES", "9"}, {"VECTORS", "0"}, {"WHOLE", "0"}});
  CHECK(plan.variants[8].source->text().find("#define PASSES 9") != std::string::npos);
}

TEST_CASE("an ablation that is interrupted or killed goes on where it was") {
  const ablation_project own;
  const std::vector<std::string> longer = {"--json", "--set", "ablation.repeats=40"};
  const auto lines = [&] {
    const std::string text = own.file("evaluations.jsonl");
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  const auto wait_for_lines = [&](std::size_t least) {
    for (int i = 0; i < 1200 && lines() < least; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  shell::running killed(own.words(longer), own.folder.string());
  wait_for_lines(2);
  killed.signal(SIGKILL);
  CHECK(killed.wait().code == 128 + SIGKILL);
  const std::size_t kept = lines();
  REQUIRE(kept >= 2);
  shell::running interrupted(own.words(longer), own.folder.string());
  wait_for_lines(kept + 1);
  interrupted.signal(SIGINT);
  const auto ended = interrupted.wait();
  CHECK_MESSAGE(ended.code == 130, ended.out << ended.err);
  const json::object told = json::parse(ended.out).as_object();
  CHECK(told.at("reused").to_number<std::size_t>() == kept);
  CHECK(told.at("interrupted").as_bool());
  CHECK(told.at("pending").to_number<int>() > 0);
  CHECK(told.at("reused").to_number<std::size_t>() + told.at("evaluations").to_number<std::size_t>() ==
        lines());
}

TEST_CASE("what is wrong in an ablation is told with its place") {
  const ablation_project own;
  const auto wrong = [&](const std::string& assignment, const std::string& key, const std::string& says) {
    const auto ended = own.lab({"--json", "--set", assignment});
    CHECK_MESSAGE(ended.code == 2, assignment << ended.out << ended.err);
    const json::object said = json::parse(ended.out).at("error").as_object();
    CHECK_MESSAGE(said.at("key").as_string() == key, ended.out);
    CHECK_MESSAGE(ended.out.find(says) != std::string::npos, ended.out);
  };
  wrong("ablation.without.passes.PASES=3", "ablation.without.passes.PASES", "no tunable 'PASES'");
  wrong("ablation.without.passes.PASSES=4", "ablation.without.passes.PASSES", "its values are: 1, 3, 9");
  wrong("ablation.without.passes={PASSES: 9, FACTOR: 3}", "ablation.without.passes", "violate a condition");
  wrong("ablation.without.passes={PASSES: 1}", "ablation.without.passes", "the same program as 'full'");
  wrong("ablation.without.passes={}", "ablation.without.passes", "at least one tunable");
  wrong("ablation.without={}", "ablation.without", "at least one part");
  wrong("ablation.alone=[passes, vector]", "ablation.alone[1]", "did you mean 'vectors'");
  wrong("ablation.alone=[passes]", "ablation.alone", "two different parts");
  wrong("ablation.program=gone.cpp", "ablation.program", "gone.cpp");
  wrong("ablation.task=gone.yaml", "ablation.task", "gone.yaml");
  wrong("ablation.stage=built", "ablation.stage", "timed_full");
  wrong("ablation.repeat=1", "ablation.repeat", "repeats");
  wrong("fitness.timing.shorts=1", "fitness.timing.shorts", "short");
  wrong("problem={type: landscape}", "problem", "'ablation'");
  wrong("lab.seeds=3", "lab.seeds", "seeds");
  // The full program is judged first: it is the baseline of all others.
  own.config("    passes: {PASSES: 3}\n", "  settings: {FACTOR: 3}\n");
  const auto unfit = own.lab();
  CHECK(unfit.code == 2);
  CHECK_MESSAGE(unfit.err.find("lab.yaml:5:") != std::string::npos, unfit.err);
  CHECK_MESSAGE(unfit.err.find("the full program is not valid") != std::string::npos, unfit.err);
  CHECK_MESSAGE(unfit.err.find("incorrect: ") != std::string::npos, unfit.err);

  own.config("    passes: {PASSES: 9}\n    few: {PASSES: 3}\n", "  alone: [passes, few]\n");
  const auto clash = own.lab();
  CHECK(clash.code == 2);
  CHECK_MESSAGE(clash.err.find("lab.yaml:10:") != std::string::npos, clash.err);
  CHECK_MESSAGE(clash.err.find("'PASSES' different values") != std::string::npos, clash.err);

  shell::write_file(own.folder / "theirs/notes.txt", "mine");
  CHECK(own.lab({"--set", "lab.output=theirs", "--set", "ablation.alone=[]"}).code == 2);
}

TEST_CASE("a backend that does not compare with the full program is refused") {
  const ablation_project own;
  shell::write_file(own.folder / "score.sh", "echo '{\"speedup\": 2, \"score\": 2}'\n");
  const auto ended =
      own.lab({"--json", "--set",
               "fitness={backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}"});
  CHECK(ended.code == 2);
  CHECK_MESSAGE(ended.out.find("does not compare programs with a baseline") != std::string::npos, ended.out);
}
