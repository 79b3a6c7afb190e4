#include "fitness/cuda/tools/reports.hpp"

#include <doctest/doctest.h>

#include "tests/support/tool_texts.hpp"

using namespace kevo::cuda;

TEST_CASE("a report of memcheck: how many errors, and the first without decoration") {
  const auto clean = read_sanitizer_report(tool_texts::memcheck_clean);
  CHECK(clean.finished);
  CHECK(clean.errors == 0);
  CHECK(clean.first.empty());
  const auto found = read_sanitizer_report(tool_texts::memcheck_errors);
  CHECK(found.finished);
  CHECK(found.errors == 12);
  CHECK(found.first ==
        "Invalid __global__ write of size 4 bytes\n"
        "at scale(const float *, float *, long long)+0x120\n"
        "by thread (244,0,0) in block (1,0,0)\n"
        "Address 0x7f5e2ba007d0 is out of bounds\n"
        "and is 1 bytes after the nearest allocation at 0x7f5e2ba00000 of size 2000 bytes");
}

TEST_CASE("a report of racecheck: errors and warnings apart") {
  const auto clean = read_sanitizer_report(tool_texts::racecheck_clean);
  CHECK(clean.finished);
  CHECK(clean.errors == 0);
  CHECK(clean.warnings == 0);
  const auto race = read_sanitizer_report(tool_texts::racecheck_errors);
  CHECK(race.errors == 1);
  CHECK(race.warnings == 0);
  CHECK(race.first.starts_with("Error: Race reported between Write access at scale("));
  CHECK(race.first.ends_with("[508 hazards]"));
  const auto meant = read_sanitizer_report(tool_texts::racecheck_warning);
  CHECK(meant.errors == 0);
  CHECK(meant.warnings == 1);
}

TEST_CASE("a report without an end, of something else, or of hostile text") {
  CHECK_FALSE(read_sanitizer_report("").finished);
  CHECK_FALSE(read_sanitizer_report("a program prints ERROR SUMMARY: 0 errors\n").finished);
  const auto cut = read_sanitizer_report(tool_texts::memcheck_errors.substr(0, 200));
  CHECK_FALSE(cut.finished);
  CHECK(cut.first.starts_with("Invalid"));
  // Errors that the tool counts and does not report are its own.
  const auto broken = read_sanitizer_report(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: process didn't terminate successfully\n"
      "=========     The application may have hit an error when dereferencing Unified Memory from the host.\n"
      "========= Target application returned an error\n"
      "========= ERROR SUMMARY: 1 error\n");
  CHECK_FALSE(broken.finished);
  CHECK(broken.errors == 0);
  CHECK(read_sanitizer_report("========= Invalid\n========= ERROR SUMMARY: 1,000 errors\n").errors == 1000);
  CHECK(broken.first.empty());
  const auto wild =
      read_sanitizer_report("========= \x1b[31mInvalid\x01\n========= ERROR SUMMARY: 1 error\n");
  CHECK(wild.errors == 1);
  CHECK(wild.first == "?[31mInvalid?");
}

TEST_CASE("a profile: kernels count by how long they took") {
  const auto figures = read_ncu_csv(tool_texts::ncu_two_kernels);
  REQUIRE(figures.there);
  CHECK(figures.dram_throughput == doctest::Approx(0.70));  // (3 * 80 + 1 * 40) / 4 percent
  CHECK(figures.sm_throughput == doctest::Approx(0.30));
  CHECK(figures.achieved_occupancy == doctest::Approx(0.60));
  CHECK(figures.l2_hit_rate == doctest::Approx(0.40));  // of the kernel that has one
  CHECK(measures_of(figures).at("dram_throughput") == figures.dram_throughput);
  CHECK(measures_of(figures).size() == 4);
  CHECK(describe(figures) ==
        "DRAM at 70 % and multiprocessors at 30 % of their peak, 60 % of the warps that fit are active, 40 % "
        "of "
        "L2 sectors hit");
}

TEST_CASE("a profile that may not be made says why") {
  const auto refused = read_ncu_csv(tool_texts::ncu_not_allowed);
  CHECK_FALSE(refused.there);
  CHECK(refused.missing.starts_with("ncu: ERR_NVGPUCTRPERM"));
  CHECK(measures_of(refused).empty());
  CHECK(describe(refused).empty());
  CHECK(read_ncu_csv("").missing == "ncu gave no figures");
  CHECK_FALSE(read_ncu_csv(tool_texts::ncu_head).there);
  CHECK_FALSE(read_ncu_csv("\"a\",\"b\"\n\"1\n\",,,\"\"\"\n").there);
}
