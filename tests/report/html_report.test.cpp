#include "src/report/html_report.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/report/html_text.hpp"
#include "tests/report/synthetic_run.hpp"

namespace {

kevo::report_content content_of(const synthetic::run& r) {
  kevo::report_content c;
  c.run = "quickstart";
  c.folder = "runs/quickstart";
  c.task = "matmul";
  c.device = "AMD EPYC 9B14, 1 thread";
  c.version = "0.1.0";
  c.seed = "1";
  c.command = "kevo run configs/quickstart.yaml";
  c.started = "2025-01-01 12:00 CET";
  c.config = "run: {name: quickstart, seed: 1}\ntask: tasks/matmul/task.yaml\n";
  c.operator_names = r.operators;
  c.history = kevo::run_history(synthetic::empty_grid());
  for (const auto& e : r.events) c.history.consume(e);
  c.archive = kevo::map_of(c.history.archive());
  c.best = c.history.best();
  const auto& all = c.history.candidates();
  if (c.best) {
    c.best_program = r.store.program_of(all[*c.best].program);
    c.best_evaluation = r.store.evaluation_of(*c.best);
    c.root = c.history.main_line(*c.best).front();
    c.root_program = r.store.program_of(all[c.root].program);
  }
  return c;
}

/// The complaint about a page that is not well formed; void elements and the optional ends of table rows and
/// cells are HTML's own.
std::string complaint(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = page.find('<', at)) != std::string::npos;) {
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return "an open tag at the end";
    std::string tag = page.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag[0] == '!' || tag.ends_with('/')) continue;
    const bool closes = tag[0] == '/';
    const std::string name = tag.substr(closes ? 1 : 0, tag.find_first_of(" \n", 1) - (closes ? 1 : 0));
    for (const char* own : {"meta", "input", "br", "col", "th", "td", "tr"}) {
      if (name == own) goto next;
    }
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "unexpected </" + name + "> in " + (open.empty() ? "nothing" : open.back()) + " near " +
             page.substr(at > 80 ? at - 80 : 0, 80);
    } else {
      open.pop_back();
    }
    if (name == "style" && !closes) at = page.find("</style>", at);
  next:;
  }
  return open.empty() ? "" : "open at the end: " + open.back();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

/// For people: KEVO_REPORT_TO=/tmp/page.html
void keep(const std::string& page) {
  if (const char* path = std::getenv("KEVO_REPORT_TO")) std::ofstream(path, std::ios::binary) << page;
}

}  // namespace

TEST_CASE("the page has every part, is well formed and loads nothing") {
  const auto r = synthetic::make(400);
  const auto content = content_of(r);
  const auto page = kevo::html_report(content);
  keep(page);
  CHECK(complaint(page) == "");
  for (const char* part : {"Best so far",
                           "The best, by workload",
                           "What changed",
                           "Lineage of the best",
                           "Archive",
                           "Operators",
                           "Outcomes",
                           "How it was measured",
                           "What it cost",
                           "Time of the evaluations",
                           "<dt>calls &lt;of&gt; it</dt>",
                           "62.5 %",
                           "kevo run configs/quickstart.yaml",
                           "AMD EPYC 9B14",
                           "openblas",
                           "seccomp",
                           "of speed of light",
                           "confirmed in a fresh process",
                           "hidden workloads passed",
                           "code_bytes",
                           "vector_fraction"}) {
    CAPTURE(part);
    CHECK(page.find(part) != std::string::npos);
  }
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("http://") == std::string::npos);
  CHECK(page.find("https://") == std::string::npos);
  CHECK(page.find("url(") == std::string::npos);
  CHECK(page.find("nan") == std::string::npos);
  CHECK(page.find(">-<") == std::string::npos);
  CHECK(count(page, "class=\"crown\"") == 2 * content.history.champions().size());
  CHECK(page.size() < 600000);
}

TEST_CASE("the headline gives the interval, and says when it shows nothing") {
  const auto r = synthetic::make(60);
  REQUIRE(content_of(r).best);
  const auto headline = [&](double speedup, kevo::interval ends) {
    auto content = content_of(r);
    content.history.consume({999999, 999.0, kevo::champion_crowned{*content.best, speedup, ends}});
    const auto page = kevo::html_report(content);
    const auto from = page.find("<div class=\"hero\">");
    return page.substr(from, page.find("</div>", from) - from);
  };
  const auto vague = headline(1.8, {0.14, 27}), sharp = headline(20.7, {16.8, 25.3});
  CHECK_MESSAGE(vague.find("1.800× <span class=\"range\">[0.1400 – 27.00]</span>") != std::string::npos,
                vague);
  CHECK(vague.find("the interval contains 1") != std::string::npos);
  CHECK_MESSAGE(sharp.find("20.70× <span class=\"range\">[16.80 – 25.30]</span>") != std::string::npos,
                sharp);
  CHECK(sharp.find("the interval") == std::string::npos);
}

TEST_CASE("a speedup in the lineage has its interval") {
  const auto r = synthetic::make(400);
  const auto page = kevo::html_report(content_of(r));
  const auto from = page.find("Lineage of the best");
  REQUIRE(from != std::string::npos);
  const auto lineage = page.substr(from, page.find("</section>", from) - from);
  const std::size_t speedups = count(lineage, "× <") + count(lineage, "×<");
  CHECK(speedups > 2);
  CHECK(count(lineage, "<tspan class=\"what\"> [") + count(lineage, "<tspan class=\"what\"> ±") == speedups);
}

TEST_CASE("the mark of the same speed lies within its cell, so that a wide screen shows no scroll bar") {
  auto content = content_of(synthetic::make(60));
  REQUIRE(content.best_evaluation);
  auto slower = *content.best_evaluation;
  slower.other_speedups = {{"openblas", 0.14}};
  content.best_evaluation = std::make_shared<kevo::evaluation>(slower);
  const auto page = kevo::html_report(content);
  CHECK(page.find("left:calc(100.0% - 2px)") != std::string::npos);
  CHECK(page.find("left:100.0%") == std::string::npos);
}

TEST_CASE("a speedup over a further baseline has its interval, in the head and in the table") {
  auto content = content_of(synthetic::make(60));
  REQUIRE(content.best_evaluation);
  auto e = *content.best_evaluation;
  e.other_speedups = {{"cublas", 0.935}, {"older", 1.127}};
  e.other_speedup_intervals = {{"cublas", {0.921, 0.948}}};
  content.best_evaluation = std::make_shared<kevo::evaluation>(e);
  const auto page = kevo::html_report(content);
  CHECK(complaint(page) == "");
  CHECK(count(page, "0.9350× [0.9210 – 0.9480]") == 2);
  CHECK(count(page, "1.127× (no interval)") == 2);
}

TEST_CASE("both times of a call are in the head and in a table, where they were measured") {
  auto content = content_of(synthetic::make(60));
  REQUIRE(content.best_evaluation);
  CHECK(kevo::html_report(content).find("host time") == std::string::npos);
  auto e = *content.best_evaluation;
  e.device_speedup = 1.34;
  e.device_speedup_interval = {1.3, 1.38};
  e.host_speedup = 3.7;
  e.host_speedup_interval = {3.61, 3.8};
  e.workloads[0].device = {.ns = 40e3, .range = {39e3, 41e3}, .baseline_ns = 53.6e3, .speedup = 1.34};
  e.workloads[0].host = {.ns = 50e3, .range = {49e3, 51e3}, .baseline_ns = 185e3, .speedup = 3.7};
  content.best_evaluation = std::make_shared<kevo::evaluation>(e);
  const auto page = kevo::html_report(content);
  CHECK(complaint(page) == "");
  CHECK(page.find("<br>by host time</p>") != std::string::npos);
  CHECK(page.find("<h3>Device and host times</h3>") != std::string::npos);
}

TEST_CASE("hostile text stays text") {
  const auto r = synthetic::make(60);
  auto content = content_of(r);
  const std::string bad =
      std::string("</script></pre></style><img src=x onerror=alert(1)>\"'`&amp;\xff\xfe\xc3(\x01\x1b[31m") +
      '\0' + "\xe2\x80\xae";
  content.run = content.task = content.device = content.command = content.config = content.seed =
      content.version = content.folder = bad;
  content.operator_names = {bad, bad, bad};
  content.best_program =
      std::make_shared<kevo::program>(kevo::single_file_program("cpp", bad, "int a;\n" + bad + "\nint b;\n"));
  auto e = *content.best_evaluation;
  e.device = e.baseline = e.backend = e.protocol = bad;
  e.context[bad] = bad;
  e.measures[bad] = 1;
  e.other_speedups[bad] = 0.5;
  for (auto& w : e.workloads) w.uuid = bad, w.axes[bad] = 1;
  content.best_evaluation = std::make_shared<kevo::evaluation>(e);
  content.archive.axes[0].name = bad;
  for (auto& k : content.archive.kept) k.niche = bad;
  kevo::event hostile{1, 0, kevo::variation_asked{500000, {{0}, {}}, 0}};
  content.history.consume(hostile);
  kevo::variation_told told;
  told.job = 500000;
  told.program = kevo::content_id{1, 2};
  told.candidate = static_cast<kevo::candidate_id>(content.history.candidates().size());
  told.summary = bad;
  content.history.consume({2, 0, told});
  content.best = told.candidate;
  for (const bool plane : {true, false}) {
    if (!plane) content.archive.axes.clear();
    const auto page = kevo::html_report(content);
    CHECK(complaint(page) == "");
    CHECK(page.find("<img") == std::string::npos);
    CHECK(page.find("</script") == std::string::npos);
    CHECK(page.find('\0') == std::string::npos);
    CHECK(page.find('\x1b') == std::string::npos);
    CHECK(page.find('\xff') == std::string::npos);
    CHECK(page.find("\xe2\x80\xae") == std::string::npos);
    CHECK(page.find("[U+202E]") != std::string::npos);
    CHECK(page.find("&lt;/script&gt;") != std::string::npos);
  }
}

TEST_CASE("escaping is exact") {
  CHECK(kevo::html::escape("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(kevo::html::escape(std::string_view("\0", 1)) == "\xef\xbf\xbd");
  CHECK(kevo::html::escape("\xe2\x82\xac\xe2\x82") == "\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(kevo::html::escape("\xc0\x80\xed\xa0\x80") ==
        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(kevo::html::escape_short("abcdef", 3) == "abc…");
}

TEST_CASE("empty, tiny and failed runs make a page too") {
  kevo::report_content nothing;
  CHECK(complaint(kevo::html_report(nothing)) == "");
  CHECK(kevo::html_report(nothing).find("no valid candidate") != std::string::npos);
  for (const std::size_t n : {1U, 2U, 3U, 8U}) {
    const auto page = kevo::html_report(content_of(synthetic::make(n)));
    CHECK(complaint(page) == "");
    CHECK(page.find("nan") == std::string::npos);
  }
  kevo::report_content failed;
  failed.history.consume({1, 0, kevo::seeded{0, {}}});
  auto e = std::make_shared<kevo::evaluation>();
  failed.history.consume({2, 1, kevo::evaluation_told{1, 0, kevo::evaluation_stage::timed_full, e, {}}});
  CHECK(complaint(kevo::html_report(failed)) == "");
}

TEST_CASE("a long run makes a page of bounded size in short time") {
  const auto r = synthetic::make(6000);
  const auto page = kevo::html_report(content_of(r));
  CHECK(page.size() < 900000);
  CHECK(complaint(page) == "");
}
