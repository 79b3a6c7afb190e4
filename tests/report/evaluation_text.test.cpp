#include "src/report/evaluation_text.hpp"

#include <doctest/doctest.h>

TEST_CASE("what was found is said in one line, and nothing that was not") {
  CHECK(kevo::finding(13.6, {13.4, 13.8}, 13.6, "seed", 2) == "13.60x [13.40, 13.80] over seed");
  CHECK(kevo::finding(2.5, {2.5, 2.5}, 7, "numpy", 2) == "2.50x over numpy, score 7");
  CHECK(kevo::finding(2.5, {}, 2.5, "", 3) == "2.500x over the baseline");
  CHECK(kevo::finding(0, {}, 1001.7, "seed", 2) == "score 1001.7");
  CHECK(kevo::finding(0, {}, 0, "seed", 2) == "score 0");
}

TEST_CASE("an evaluation says what it leaves undecided, and that it is the baseline's program") {
  kevo::evaluation e;
  e.outcome = kevo::outcome::valid;
  e.stage = kevo::evaluation_stage::confirmed;
  e.baseline = "seed";
  e.speedup = e.score = 0.924;
  e.speedup_interval = {0.8, 1.1};
  e.context = {{"disturbed", "other processes used 1.9 of 2 processors"}, {"identical_to", "seed"}};
  const std::string text = kevo::describe(e, "matmul");
  CHECK(text.find("  its object is the same as that of the baseline seed\n") != std::string::npos);
  CHECK(text.find("  undecided: the interval contains 1: neither faster nor slower is shown; other processes "
                  "used 1.9 "
                  "of 2 processors\n") != std::string::npos);
  e.speedup_interval = {0.91, 0.94};
  e.context.clear();
  CHECK(kevo::describe(e, "matmul").find("undecided") == std::string::npos);
}

TEST_CASE("an evaluation says with which flags the program was compiled, because they decide its speed") {
  kevo::evaluation e;
  CHECK(kevo::describe(e, "matmul").find("compiled with") == std::string::npos);
  e.context = {{"compiler", "g++"}, {"flags", "-O2 -march=native"}};
  CHECK(kevo::describe(e, "matmul").find("\n  compiled with g++ -O2 -march=native\n") != std::string::npos);
  e.context = {{"compiler", "NVRTC 13.0"}, {"flags", ""}};
  CHECK(kevo::describe(e, "matmul").find("\n  compiled with NVRTC 13.0\n") != std::string::npos);
}

TEST_CASE("the wait for other processes is told with what an evaluation took, if there was one") {
  kevo::evaluation e;
  e.cost = {.wall_s = 13, .device_s = 1.5};
  CHECK(kevo::describe(e, "matmul").find("  took 13.00 s, of which 1.50 s measuring, on this machine\n") !=
        std::string::npos);
  e.cost.waited_s = 11;
  CHECK(kevo::describe(e, "matmul")
            .find("of which 1.50 s measuring and 11.00 s waiting for other processes that "
                  "measured, on this machine\n") != std::string::npos);
}

TEST_CASE("a speedup over a further baseline is not shown without its uncertainty") {
  kevo::evaluation e;
  e.outcome = kevo::outcome::valid;
  e.other_speedups = {{"open\nblas", 1.127}};
  CHECK(kevo::describe(e, "matmul").find("\n  1.127x (no interval) over open blas\n") != std::string::npos);
  e.other_speedup_intervals = {{"open\nblas", {1.09, 1.16}}};
  CHECK(kevo::describe(e, "matmul").find("\n  1.127x [1.090 - 1.160] over open blas\n") != std::string::npos);
}

TEST_CASE("both times of a call are shown beside each other, with their intervals") {
  kevo::evaluation e;
  e.outcome = kevo::outcome::valid;
  e.baseline = "eager";
  e.speedup = e.score = 1.34;
  e.speedup_interval = {1.3, 1.38};
  kevo::workload_result w;
  w.uuid = "usual";
  w.outcome = kevo::outcome::valid;
  w.time_ns = 40e3;
  w.baseline_ns = 53.6e3;
  w.speedup = 1.34;
  e.workloads = {w};
  CHECK(kevo::describe(e, "layer").find("host") == std::string::npos);
  e.device_speedup = 1.34;
  e.device_speedup_interval = {1.3, 1.38};
  e.host_speedup = 3.7;
  e.host_speedup_interval = {3.61, 3.8};
  e.workloads[0].device = {.ns = 40e3, .range = {39e3, 41e3}, .baseline_ns = 53.6e3, .speedup = 1.34};
  e.workloads[0].host = {.ns = 50e3, .range = {49e3, 51e3}, .baseline_ns = 185e3, .speedup = 3.7};
  const std::string text = kevo::describe(e, "layer");
  CHECK_MESSAGE(text.find("  by device time: 1.340x [1.300 - 1.380]\n") != std::string::npos, text);
  CHECK_MESSAGE(text.find("  by host time: 3.700x [3.610 - 3.800]\n") != std::string::npos, text);
  CHECK_MESSAGE(text.find("usual: device 40.00 us (39.00 us - 41.00 us), baseline 53.60 us, 1.340x") !=
                    std::string::npos,
                text);
  CHECK_MESSAGE(
      text.find("host 50.00 us (49.00 us - 51.00 us), baseline 185.0 us, 3.700x") != std::string::npos, text);
}
