// timed
// timeout: 240
#include "fitness/build/compiler.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <sched.h>
#include <set>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/build/same_object.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "tests/fitness/support/sandboxed.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;
using namespace std::chrono_literals;

namespace {

build_request request_for(const std::string& text) {
  build_request request;
  request.source = single_file_program("cpp", "kernel.cpp", text);
  request.flags = {"-O0"};
  return request;
}

compiler_settings quick() {
  compiler_settings settings;
  settings.sandbox = sandbox_mode::best;
  settings.limits.wall_s = 60;
  return settings;
}

const program_entry entry_for_floats = {
    "run", "extern \"C\" void run(float* x);  // what the task calls\n",
    "extern \"C\" __attribute__((visibility(\"hidden\"))) void run(float* x);\n"
    "extern \"C\" __attribute__((visibility(\"hidden\"))) void kevo_call(float* x) { run(x); }\n"};

std::vector<std::string> words(const std::vector<std::string>& reasons) {
  return reasons;
}

}  // namespace

TEST_CASE("this machine offers the sandbox") {
  if (std::getenv("KEVO_TEST_WITHOUT_SANDBOX") == nullptr) CHECK(contains(sandbox_mode::required));
}

TEST_CASE("a candidate is built, kept and found again") {
  const scratch_folder folder(false);
  auto settings = quick();
  settings.cache_folder = folder.path() + "/cache";
  auto request = request_for("extern \"C\" int run(int x) { return x + 1; }\n");
  std::string first;
  {
    compiler builds(settings);
    const auto result = builds.build(request);
    INFO(result.diagnostics);
    REQUIRE(result.ok);
    CHECK(!result.cached);
    CHECK(result.report.ok());
    first = result.object_path;
    CHECK(first.starts_with(settings.cache_folder));
    void* object = ::dlopen(first.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(object != nullptr);
    CHECK(reinterpret_cast<int (*)(int)>(::dlsym(object, "run"))(41) == 42);
    ::dlclose(object);
    CHECK(builds.build(request).cached);
    CHECK(has(builds.version_of("g++"), "g++"));
  }
  compiler again(settings);
  const auto known = again.build(request);
  CHECK(known.cached);
  CHECK(known.object_path == first);
  // Every part of the key matters.
  auto other = request;
  other.flags = {"-O1"};
  CHECK(!again.build(other).cached);
  other = request;
  other.entry.text = "extern \"C\" int kevo_call() { return 1; }\n";
  CHECK(!again.build(other).cached);
  other = request;
  other.fast_math = {false, "the task does not allow it"};
  CHECK(!again.build(other).cached);
  other = request;
  other.source.files[0].text += "\n";
  CHECK(!again.build(other).cached);
  // An object that was cut short is built again.
  std::filesystem::permissions(first, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(first, 10);
  const auto mended = again.build(request);
  CHECK(mended.ok);
  CHECK(!mended.cached);
}

TEST_CASE("both compilers work, with an entry, several files and C++ headers") {
  compiler builds(quick());
  for (const char* name : {"g++", "clang++"}) {
    if (!std::filesystem::exists(std::string("/usr/bin/") + name)) continue;
    build_request request;
    request.compiler = name;
    request.flags = {"-O1", "-std=c++20"};
    request.source.language = "cpp";
    request.source.files = {
        {"kernel.cpp",
         "#include \"parts/add.hpp\"\n#include <vector>\n#include <immintrin.h>\n"
         "extern \"C\" void run(float* x) { std::vector<float> v(3); x[0] = add(v[0]); }\n"},
        {"parts/add.hpp", "inline float add(float x) { return x + 1; }\n"}};
    request.entry = entry_for_floats;
    const auto result = builds.build(request);
    INFO(result.diagnostics);
    CHECK(result.ok);
  }
}

TEST_CASE("a program is its own main file, and cannot take its entry's place") {
  compiler builds(quick());
  for (const char* name : {"g++", "clang++"}) {
    if (!std::filesystem::exists(std::string("/usr/bin/") + name)) continue;
    auto request = request_for(
        "static_assert(__INCLUDE_LEVEL__ == 0);\nextern \"C\" void run(float* x) { x[0] = 1; }\n"
        "extern \"C\" void kevo_call(float* x) { x[0] = 2; }\nextern \"C\" int _start() { return 1; }\n");
    request.compiler = name;
    request.entry = entry_for_floats;
    const auto result = builds.build(request);
    REQUIRE_MESSAGE(result.ok, result.diagnostics);
    void* object = ::dlopen(result.object_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(object != nullptr, ::dlerror());
    Elf64_Ehdr header;
    std::ifstream(result.object_path, std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
    float x = 0;
    reinterpret_cast<void (*)(float*)>(static_cast<link_map*>(object)->l_addr + header.e_entry)(&x);
    CHECK(x == 1);
    CHECK(::dlsym(object, "run") == nullptr);
    ::dlclose(object);
  }
}

TEST_CASE("variables that each thread has for itself may be large") {
  compiler builds(quick());
  for (const char* size : {"16", "1 << 20"}) {
    const auto result = builds.build(request_for("namespace { thread_local int n[" + std::string(size) +
                                                 "]; }\nextern \"C\" int run(int i) { return ++n[i]; }\n"));
    REQUIRE_MESSAGE(result.ok, result.diagnostics);
    void* object = ::dlopen(result.object_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(object != nullptr, ::dlerror());
    CHECK(reinterpret_cast<int (*)(int)>(::dlsym(object, "run"))(7) == 1);
    ::dlclose(object);
  }
}

TEST_CASE("a program that does not define its function is told what is called") {
  compiler builds(quick());
  auto request = request_for("extern \"C\" void walk(float* x) { x[0] = 1; }\n");
  request.entry = entry_for_floats;
  const auto result = builds.build(request);
  CHECK(!result.ok);
  REQUIRE(result.reasons.size() == 1);
  CHECK(result.reasons[0] ==
        "the program does not define what the task calls: extern \"C\" void run(float* x);");
}

TEST_CASE("two builds of one program are loaded alike, whatever they ask of the clock") {
  for (const char* name : {"g++", "clang++"}) {
    if (!std::filesystem::exists(std::string("/usr/bin/") + name)) continue;
    auto request = request_for(
        "namespace { thread_local int n; }\n"
        "extern \"C\" const char* when() { ++n; return __DATE__ \" \" __TIME__ \" \" __TIMESTAMP__; }\n"
        "extern \"C\" void run(float* x) { x[0] = *when(); }\n");
    request.compiler = name;
    request.entry = entry_for_floats;
    compiler one(quick());
    const auto first = one.build(request);
    REQUIRE_MESSAGE(first.ok, first.diagnostics);
    CHECK(first.diagnostics.empty());
    std::this_thread::sleep_for(1100ms);
    compiler other(quick());
    const auto second = other.build(request);
    REQUIRE(second.ok);
    CHECK(!second.cached);
    CHECK(same_object(first.object_path, second.object_path));
    const auto text = shell::read_file(first.object_path);
    CHECK(has(text, "Jan  1 1970 00:00:00 Thu Jan  1 00:00:00 1970"));
    CHECK(text != shell::read_file(second.object_path));  // the names of the entries
  }
}

TEST_CASE("fast math by the source needs permission, and where it is given nothing is looked at") {
  compiler builds(quick());
  const std::string body = "extern \"C\" void run(float* x) { x[0] = x[1] / 3; }\n";
  for (const char* name : {"g++", "clang++"}) {
    if (!std::filesystem::exists(std::string("/usr/bin/") + name)) continue;
    auto request = request_for("#define A(x) _Pragma(#x)\n\nA(GCC optimize(\"Ofast\"))\n" + body);
    request.compiler = name;
    request.entry = entry_for_floats;
    CHECK(builds.build(request).ok);
    request.fast_math = {false, "the task does not allow it"};
    const auto refused = builds.build(request);
    CHECK(!refused.ok);
    REQUIRE(refused.reasons.size() == 1);
    CHECK(refused.reasons[0] ==
          "kernel.cpp:3: error: fast math ('Ofast') is refused, as the build option 'fast_math: on' would "
          "be: the task does not allow it");
    request.source.files[0].text = "#pragma GCC optimize(\"O3\")\n" + body;
    const auto harmless = builds.build(request);
    CHECK_MESSAGE(harmless.ok, harmless.diagnostics);
    request.source.files[0].text = "#pragma GCC optimize(\"O3\")\nvoid f() { undeclared(); }\n" + body;
    const auto wrong = builds.build(request);
    REQUIRE(wrong.reasons.size() == 1);
    CHECK(wrong.reasons[0].starts_with("kernel.cpp:2:12: error:"));
  }
}

TEST_CASE("errors name a line of the author's file, also where the declaration does not fit the task") {
  compiler builds(quick());
  for (const char* name : {"g++", "clang++"}) {
    if (!std::filesystem::exists(std::string("/usr/bin/") + name)) continue;
    build_request request;
    request.compiler = name;
    request.flags = {"-O0"};
    request.source.language = "cpp";
    request.entry = entry_for_floats;
    for (const char* text : {"\nvoid run(float* x) { x[0] = 1; }\n",
                             "\nextern \"C\" int run(float* x) { return x[0] > 1; }\n"}) {
      request.source.files = {{"kernel.cpp", text}};
      const auto result = builds.build(request);
      REQUIRE(result.reasons.size() == 1);
      INFO(result.reasons.front());
      CHECK(result.reasons.front().starts_with("kernel.cpp:2:"));
      CHECK(has(result.reasons.front(), "error: "));
      CHECK(has(result.reasons.front(), "; the task calls extern \"C\" void run(float* x);"));
    }
    request.source.files = {{"kernel.cpp", "\nextern \"C\" void run(float* x) { undeclared(x); }\n"}};
    const auto result = builds.build(request);
    REQUIRE(result.reasons.size() == 1);
    CHECK(result.reasons.front().starts_with("kernel.cpp:2:"));
    CHECK(!has(result.reasons.front(), "the task calls"));
    CHECK(!has(result.diagnostics, "./kernel.cpp"));
  }
}

TEST_CASE("a library among the flags is linked, also where its name is a flag of its own") {
  compiler builds(quick());
  auto request = request_for(
      "extern \"C\" int omp_get_max_threads();\nextern \"C\" int run() { return omp_get_max_threads(); }\n");
  for (const auto& flags :
       {std::vector<std::string>{"-O0", "-l", "gomp"},
        std::vector<std::string>{"-O0", "-Wl,--as-needed", "-lgomp", "-Wl,--no-as-needed", "-Wl,-z,defs"}}) {
    request.flags = flags;
    const auto result = builds.build(request);
    CHECK_MESSAGE(result.ok, result.diagnostics);
  }
}

TEST_CASE("errors are a value, kept, and speak of the author's paths") {
  compiler builds(quick());
  const auto request = request_for("int broken(\n");
  const auto result = builds.build(request);
  CHECK(!result.ok);
  CHECK(has(result.diagnostics, "kernel.cpp:"));
  CHECK(!has(result.diagnostics, "/src"));
  CHECK(!has(result.diagnostics, "/tmp"));
  REQUIRE(result.reasons.size() == 1);
  CHECK(has(result.reasons[0], "error"));
  const auto known = builds.build(request);
  CHECK(known.cached);
  CHECK(!known.ok);
  CHECK(known.diagnostics == result.diagnostics);
  CHECK(words(known.reasons) == result.reasons);
}

TEST_CASE("the reason is the error, though it lies behind the cut and below what leads up to it") {
  auto settings = quick();
  settings.diagnostics_bytes = 200;
  compiler builds(settings);
  build_request request = request_for(
      "#include \"error_helpers.hpp\"\n"
      "int f(int a) { return error_of<3>(a) + nowhere; }\n");
  request.source.files.push_back(
      {"error_helpers.hpp", "#warning " + std::string(300, 'x') +
                                "\ntemplate <int n> int error_of(int a) { return a / (n - 3); }\n"});
  const auto result = builds.build(request);
  REQUIRE(!result.ok);
  REQUIRE(result.reasons.size() == 1);
  CHECK(has(result.reasons[0], "kernel.cpp:2:"));
  CHECK(has(result.reasons[0], "'nowhere' was not declared"));
  CHECK(has(result.diagnostics, "(cut)"));
}

TEST_CASE("files that are not the candidate's are not there") {
  if (!kevo::test::sandboxed_or_skip()) return;
  compiler builds(quick());
  const scratch_folder elsewhere(false);
  std::ofstream(elsewhere.path() + "/secret.hpp") << "int secret;\n";
  const std::string here = KEVO_SOURCE_DIR;
  for (const auto& line :
       {std::string("#include \"task.yaml\""), std::string("#include \"/etc/hostname\""),
        std::string("#include \"/etc/passwd\""), "#include \"" + elsewhere.path() + "/secret.hpp\"",
        "#include \"" + here + "/LICENSE\"", std::string("#include \"/proc/self/environ\""),
        std::string("#include \"/proc/1/cmdline\""), std::string("#include \"/out/candidate.so\""),
        std::string("asm(\".incbin \\\"/etc/passwd\\\"\");"),
        "asm(\".incbin \\\"" + here + "/LICENSE\\\"\");", "asm(\".include \\\"" + here + "/LICENSE\\\"\");",
        std::string("#include <eigen3/Eigen/Dense>"), std::string("#include <boost/version.hpp>"),
        std::string("#include \"../../../etc/hostname\"")}) {
    INFO(line);
    const auto result = builds.build(request_for(line + "\nextern \"C\" int run() { return 0; }\n"));
    CHECK(!result.ok);
    CHECK((has(result.diagnostics, "No such file") || has(result.diagnostics, "file not found")));
  }
  // Somebody else's kernels, embedded as bytes.
  for (const auto& library : numeric_libraries()) {
    if (!std::filesystem::is_regular_file(library)) continue;
    INFO(library);
    CHECK(!builds.build(request_for("asm(\".incbin \\\"" + library + "\\\"\");\n")).ok);
    break;
  }
  // What could be there says whether it is.
  const auto seen = builds.build(request_for("#if __has_include(\"/etc/hostname\") || __has_include(\"" +
                                             here + "/LICENSE\")\n#error seen\n#endif\n"));
  CHECK(seen.ok);
}

TEST_CASE("a compiler that never ends, eats memory or floods its output fails the candidate alone") {
  auto settings = quick();
  settings.limits.wall_s = 1;
  settings.limits.memory_bytes = 300U << 20U;
  compiler builds(settings);
  const auto start = std::chrono::steady_clock::now();
  const auto bomb = builds.build(request_for(
      "constexpr long f(long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
      "template <long N> struct s { enum : long { v = s<N - 1>::v + s<N - 2>::v + f(N % 7) }; };\n"
      "constexpr long spin() { long x = 0; for (long i = 0; i < 4000000000; ++i) x ^= i; return x; }\n"
      "static_assert(spin() != 1);\n"));
  CHECK(!bomb.ok);
  REQUIRE(bomb.reasons.size() == 1);
  INFO(bomb.reasons[0]);
  CHECK(std::chrono::steady_clock::now() - start < 30s);

  settings.limits.wall_s = 20;
  compiler patient(settings);
  const auto zero = patient.build(request_for("#include \"/dev/zero\"\n"));
  CHECK(!zero.ok);
  const auto huge = patient.build(request_for("char x[1L << 33] = {1};\n"));
  CHECK(!huge.ok);
  const auto memory = patient.build(request_for(
      "template <class... T> struct list {};\ntemplate <class A, class B> struct join;\n"
      "template <class... A, class... B> struct join<list<A...>, list<B...>> { using type = list<A..., B..., "
      "A..., B...>; };\n"
      "template <int N> struct make { using type = typename join<typename make<N - 1>::type, typename make<N "
      "- 1>::type>::type; };\n"
      "template <> struct make<0> { using type = list<int>; };\nusing t = make<16>::type;\nt x;\n"));
  CHECK(!memory.ok);
  CHECK(patient.build(request_for("#include \"/dev/zero\"\n")).cached);

  settings.limits.output_bytes = 10'000;
  compiler quiet(settings);
  std::string warnings;
  for (int i = 0; i < 2000; ++i) warnings += "#warning this candidate talks and talks and talks\n";
  const auto flood = quiet.build(request_for(warnings));
  CHECK(!flood.ok);
  REQUIRE(!flood.reasons.empty());
  CHECK(has(flood.reasons[0], "printed more than"));
}

TEST_CASE("objects that are too large, files of bad names and programs without files are refused") {
  auto settings = quick();
  settings.object_bytes = 100'000;
  compiler builds(settings);
  CHECK(builds.build(request_for("int x;\n")).ok);
  const auto large = builds.build(request_for("char x[1 << 20] = {1};\n"));
  CHECK(!large.ok);
  CHECK(has(large.reasons.at(0), "larger than"));
  for (const char* name :
       {"/etc/x.cpp", "../x.cpp", "a/../../x.cpp", "", "kevo_entry.cpp", "a//b.cpp", "-o"}) {
    build_request request = request_for("int x;\n");
    request.source.files[0].path = name;
    CHECK(!builds.build(request).ok);
  }
  build_request twice = request_for("int x;\n");
  twice.source.files.push_back(twice.source.files[0]);
  CHECK(!builds.build(twice).ok);
  build_request none = request_for("int x;\n");
  none.source.files.clear();
  const auto nothing = builds.build(none);
  CHECK(!nothing.ok);
  CHECK(has(nothing.reasons.at(0), "no file"));
}

TEST_CASE("a compiler that does not exist is a fault of the machine") {
  compiler builds(quick());
  auto request = request_for("int x;\n");
  request.compiler = "no-such-compiler";
  CHECK_THROWS_AS(builds.build(request), kevo::error);
  auto settings = quick();
  settings.cache_folder = "/proc/nowhere";
  CHECK_THROWS_AS(compiler{settings}, kevo::error);
}

TEST_CASE("the same build asked for at once is done once, and can be interrupted") {
  compiler builds(quick());
  const auto request = request_for("#include <vector>\nint x;\n");
  std::vector<build_result> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = builds.build(request); });
  for (auto& thread : threads) thread.join();
  int fresh = 0;
  for (const auto& result : results) {
    CHECK(result.ok);
    fresh += result.cached ? 0 : 1;
  }
  CHECK(fresh == 1);

  std::stop_source source;
  std::thread stopper([&] {
    std::this_thread::sleep_for(100ms);
    source.request_stop();
  });
  const auto slow = request_for(
      "constexpr long spin() { long x = 0; for (long i = 0; i < 4000000000; ++i) x ^= i; return x; }\n"
      "static_assert(spin() != 1);\n");
  auto patient = slow;
  patient.flags = {"-O0", "-fconstexpr-ops-limit=999999999999", "-fconstexpr-loop-limit=2147483647"};
  CHECK_THROWS_AS(builds.build(patient, source.get_token()), kevo::error);
  stopper.join();
}

TEST_CASE("builds that stand back have one processor, which whoever else wants it takes from them") {
  cpu_set_t usual;
  REQUIRE(::sched_getaffinity(0, sizeof usual, &usual) == 0);
  int last = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &usual)) last = cpu;
  }
  running_builds running;
  const shell::scratch folder;
  // Says twice how a process that it starts is scheduled, the second time when the file NAME-one is there,
  // and then makes the file NAME-said; when the file NAME-two is there, it says it once more.
  const std::string text =
      "for word in one two; do sh -c 'grep Cpus_allowed_list /proc/self/status; cut -d\" \" -f41 "
      "/proc/self/stat'; "
      "until [ -e " +
      (folder / "$1-$word").string() + " ]; do sleep 0.01; [ $word = one ] || : >" +
      (folder / "$1-said").string() + "; done; done; sh -c 'cut -d\" \" -f41 /proc/self/stat'";
  const auto start = [&](const std::string& name, kevo::exit_report& report) {
    return std::thread([&, name] {
      kevo::launch_spec spec;
      spec.argv = {"/bin/sh", "-c", text, "sh", name};
      spec.environment = {"PATH=/usr/bin:/bin"};
      spec.sandbox = sandbox_mode::off;
      spec.limits.wall_s = 60;
      report = running.run(spec);
    });
  };
  const auto touch = [&](const std::string& name) { shell::write_file(folder / name, ""); };
  kevo::exit_report early, late;
  auto first = start("early", early);
  while (running.count() == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(100ms);
  std::thread second;
  {
    const auto guard = running.stand_back(last);
    second = start("late", late);  // does not wait for the end of the guard
    while (running.count() < 2) std::this_thread::sleep_for(1ms);
    touch("early-one");
    touch("late-one");
    const auto has_said = [&](const char* name) { return std::filesystem::exists(folder / name); };
    for (int i = 0; i < 6000 && !(has_said("early-said") && has_said("late-said")); ++i)
      std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(1500ms);
  }
  touch("early-two");
  touch("late-two");
  first.join();
  second.join();
  const std::string confined = "Cpus_allowed_list:\t" + std::to_string(last) + "\n5\n";  // 5: SCHED_IDLE
  CHECK_MESSAGE(early.out.find("\n0\n") != std::string::npos, early.out);
  CHECK_MESSAGE(early.out.find(confined) != std::string::npos, early.out);
  CHECK_MESSAGE(late.out.find(confined) != std::string::npos, late.out);
  CHECK_MESSAGE(early.out.ends_with("\n0\n"), early.out);
  CHECK_MESSAGE(late.out.ends_with("\n0\n"), late.out);
  CHECK(early.wall_s < 1.2);  // what it stood back for is not its own
}

TEST_CASE("paused builds stand still and go on afterwards") {
  running_builds running;
  compiler builds(quick(), &running);
  (void)builds.version_of("g++");
  const auto slow =
      request_for("#include <regex>\n#include <map>\n#include <algorithm>\nstd::regex r(\"a\");\n");
  build_result result;
  std::thread builder([&] { result = builds.build(slow); });
  while (running.count() == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  {
    const auto guard = running.pause_all();
    const auto second = running.pause_all();
    CHECK(running.count() == 1);
    // A new build waits until the last guard is gone.
    std::stop_source source;
    std::thread other(
        [&] { CHECK_THROWS_AS(builds.build(request_for("int other;\n"), source.get_token()), kevo::error); });
    std::this_thread::sleep_for(300ms);
    CHECK(running.count() == 1);
    source.request_stop();
    other.join();
  }
  builder.join();
  INFO(result.diagnostics);
  CHECK(result.ok);
  CHECK(running.count() == 0);
  CHECK(result.report.wall_s < result.wall_s - 0.25);  // paused time is not the compiler's
}

namespace {

std::uintptr_t place_of(const std::string& object, const char* name) {
  void* const loaded = ::dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(loaded != nullptr, ::dlerror());
  void* const found = ::dlsym(loaded, name);
  REQUIRE(found != nullptr);
  const auto place = reinterpret_cast<std::uintptr_t>(found) % 4096;
  ::dlclose(loaded);
  return place;
}

}  // namespace

TEST_CASE("a program is linked again at other places of a page, in code and data, and does the same there") {
  const scratch_folder folder(false);
  auto settings = quick();
  settings.cache_folder = folder.path() + "/cache";
  compiler builds(settings);
  const auto request = request_for(
      "int counter = 5;\nint cleared[3];\n"
      "extern \"C\" int run(int x) { return x + counter + cleared[1]; }\n"
      "extern \"C\" __attribute__((aligned(1024))) int aligned(int x) { return x; }\n");
  REQUIRE(builds.build(request).ok);
  const auto objects = builds.place(request, 0, 6);
  REQUIRE(objects.size() == 6);
  std::set<std::uintptr_t> code;
  std::set<std::uintptr_t> data;
  std::set<std::uintptr_t> zeros;
  for (const auto& object : objects) {
    code.insert(place_of(object, "run"));
    data.insert(place_of(object, "counter"));
    zeros.insert(place_of(object, "cleared"));
    // What a source aligns stays aligned.
    CHECK(place_of(object, "aligned") % 1024 == 0);
    void* const loaded = ::dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(loaded != nullptr);
    CHECK(reinterpret_cast<int (*)(int)>(::dlsym(loaded, "run"))(3) == 8);
    ::dlclose(loaded);
  }
  CHECK(data.size() >= 5);
  CHECK(zeros.size() >= 5);
  // Of the same numbers they are the same objects, and further ones lie elsewhere.
  CHECK(builds.place(request, 0, 6) == objects);
  const auto further = builds.place(request, 6, 2);
  CHECK(further.size() == 2);
  CHECK(std::find(objects.begin(), objects.end(), further[0]) == objects.end());

  const auto plain = request_for("extern \"C\" int run(int x) { return x + 1; }\n");
  REQUIRE(builds.build(plain).ok);
  code.clear();
  for (const auto& object : builds.place(plain, 0, 8)) code.insert(place_of(object, "run"));
  CHECK(code.size() >= 7);
}
