#include "fitness/build/compiler_process.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

using namespace kevo;

TEST_CASE("a program's files stay in their folder and cannot be taken for options") {
  for (const char* good : {"a.cpp", "kernels/a.cu", "a..b.h", "a-b/c", "..a", ".hidden"})
    CHECK_MESSAGE(acceptable_file_name(good), good);
  for (const std::string& bad :
       {std::string(), std::string("/a"), std::string("a/"), std::string("../a"), std::string("a/../b"),
        std::string("./a"), std::string("a//b"), std::string("-o"), std::string("a/-o"),
        std::string(201, 'a'), std::string("a\0b", 3)})
    CHECK_FALSE_MESSAGE(acceptable_file_name(bad), bad);
}

TEST_CASE("flags of libraries are repeated with what changes their meaning") {
  using list = std::vector<std::string>;
  CHECK(kevo::library_flags({"-O2", "-lm", "-fopenmp", "-l", "gomp"}) == list{"-lm", "-l", "gomp"});
  CHECK(kevo::library_flags({"-Wl,-Bstatic", "-lx", "-Wl,-Bdynamic", "-Wl,-soname,k", "-L/x"}) ==
        list{"-Wl,-Bstatic", "-lx", "-Wl,-Bdynamic"});
  CHECK(kevo::library_flags({"-Wl,--start-group", "-la", "-lb", "-Wl,--end-group"}) ==
        list{"-Wl,--start-group", "-la", "-lb", "-Wl,--end-group"});
  CHECK(kevo::library_flags({"-Wl,--as-needed,-lm"}) == list{"-Wl,--as-needed,-lm"});
  CHECK(kevo::library_flags({"-O2", "-Wl,--as-needed"}).empty());
}

TEST_CASE("the first error is the first line that speaks of one") {
  CHECK(first_error("note: x\na.cu(1): error: y\nerror: z\n", "other") == "a.cu(1): error: y");
  CHECK(first_error("a.o: undefined reference to `f'\n", "") == "a.o: undefined reference to `f'");
  CHECK(first_error("note: x\n", "other") == "other");
  CHECK(first_error("note: x\nnote: y\n", "") == "note: x");
  CHECK(first_error("", "").empty());
  CHECK(first_error("error " + std::string(400, 'x'), "").size() == 300);
}

TEST_CASE("long diagnostics keep their beginning") {
  CHECK(cut_diagnostics("abc", 3) == "abc");
  CHECK(cut_diagnostics("abcd", 3) == "abc\n... (cut)\n");
}

TEST_CASE("an end that says nothing of the source is nobody's mistake") {
  exit_report report;
  report.kind = exit_kind::exited;
  report.code = 1;
  CHECK_NOTHROW(require_own_end(report, "g++", {}));
  report.kind = exit_kind::timed_out;
  CHECK_NOTHROW(require_own_end(report, "g++", {}));
  report.kind = exit_kind::cancelled;
  CHECK_THROWS_WITH_AS(require_own_end(report, "g++", {}), "a build was killed by another process", error);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_WITH_AS(require_own_end(report, "g++", stop.get_token()), "interrupted during a build", error);
  report.kind = exit_kind::not_started;
  report.err = "no such file";
  CHECK_THROWS_WITH_AS(require_own_end(report, "g++", {}), "cannot run the compiler g++: no such file",
                       error);
}

TEST_CASE("file names that cannot lie in one folder are found before anything is written") {
  const auto unfit = [](std::vector<std::string> names, const std::string& own) {
    program made{"cpp", {}};
    for (auto& name : names) made.files.push_back({std::move(name), ""});
    return unfit_file_name(made, own);
  };
  CHECK(!unfit({"a.cpp", "a.hpp", "a/b.hpp", "a/c.hpp"}, "own.cpp"));
  CHECK(unfit({"a.cpp", "a.cpp-x", "a.cpp/b.hpp"}, "") == "a.cpp/b.hpp");
  CHECK(unfit({"a/b/c", "a"}, "") == "a/b/c");
  CHECK(unfit({"a.cpp", "a.cpp"}, "") == "a.cpp");
  CHECK(unfit({"a.cpp", "../b.cpp"}, "") == "../b.cpp");
  CHECK(unfit({"own.cpp"}, "own.cpp") == "own.cpp");
  CHECK(unfit({"own.cpp/a.hpp"}, "own.cpp") == "own.cpp/a.hpp");
}

TEST_CASE("a missing header brings the rule about headers, other errors do not") {
  CHECK(kevo::rule_of_headers("k.cpp:1:10: fatal error: Eigen/Dense: No such file or directory")
            .starts_with("a program has the headers of C and C++"));
  CHECK(kevo::rule_of_headers("k.cpp:1:10: fatal error: 'x.hpp' file not found")
            .starts_with("a program has the headers of C and C++"));
  CHECK(kevo::rule_of_headers("k.cpp:2:1: error: expected ';' before '}' token").empty());
  CHECK(kevo::rule_of_headers("").empty());
}
