// one processor
// timeout: 300
// Programs of a model's own: what they can do, and what a hostile one cannot; and what is said of a draft's
// machine code.
#include "fitness/cpu/draft_tools.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "fitness/process/proc.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "tests/fitness/cpu/line_task.hpp"
#include "tests/fitness/support/sandboxed.hpp"
#include "tests/support/has.hpp"

using namespace kevo;
using kevo::test::sandboxed_or_skip;

namespace {

program scratch(const std::string& body) {
  return single_file_program(
      "cpp", "try.cpp",
      "#include <arpa/inet.h>\n#include <cerrno>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n"
      "#include <dirent.h>\n#include <fcntl.h>\n#include <fstream>\n#include <iostream>\n#include "
      "<signal.h>\n"
      "#include <string>\n#include <sys/mman.h>\n#include <sys/socket.h>\n#include <sys/stat.h>\n"
      "#include <thread>\n#include <unistd.h>\n#include <vector>\nint main() {\n" +
          body + "\n}\n");
}

std::string said_by(const std::string& body, bool counters = false) {
  line_task::fixture f;
  return f.fitness.run_scratch(scratch(body), counters, {});
}

}  // namespace

TEST_CASE("a program of one's own is built with the other files, runs and prints") {
  if (!sandboxed_or_skip()) return;
  line_task::fixture f;
  program made{"cpp",
               {{"try.cpp",
                 "#include \"kernel.hpp\"\n#include <cstdio>\nint main() {\n  std::puts(twice(21) == 42 ? "
                 "\"FORTY_TWO\" : \"no\");\n  std::fputs(\"a remark\\n\", stderr);\n  return 3;\n}\n"},
                {"kernel.hpp", "inline int twice(int x) { return 2 * x; }\n"}}};
  const std::string said = f.fitness.run_scratch(made, false, {});
  CHECK_MESSAGE(has(said, "The program ended with exit code 3"), said);
  CHECK_MESSAGE(has(said, "It printed:\nFORTY_TWO\n"), said);
  CHECK_MESSAGE(has(said, "On standard error:\na remark\n"), said);
  made.files.front().text = "int main() { return broken; }\n";
  const std::string wrong = f.fitness.run_scratch(made, false, {});
  CHECK_MESSAGE(has(wrong, "It does not build."), wrong);
  CHECK_MESSAGE(has(wrong, "'broken' was not declared"), wrong);
  made.files.front().path = "../../try.cpp";
  CHECK(has(f.fitness.run_scratch(made, false, {}), "It does not build."));
}

TEST_CASE("a program of one's own sees no file of the run or of others, while it is built and when it runs") {
  if (!sandboxed_or_skip()) return;
  const scratch_folder run(false);  // as a journal, a task with hidden sizes, and another candidate lie there
  const std::string secret = run.path() + "/journal.sqlite";
  std::ofstream(secret) << "SECRET_SIZE 777\n";
  const std::string said = said_by(
      "for (const char* path : {\"" + secret +
      "\", \"/etc/passwd\", \"/proc/self/environ\", \"/proc/1/maps\", "
      "\"/sys/kernel/notes\", \"/usr/bin/env\", \"/root/.bashrc\", \"/source/try.cpp\"}) {\n"
      "  std::ifstream file(path); std::string text;\n"
      "  if (std::getline(file, text)) std::cout << \"READ \" << path << ' ' << text << '\\n';\n}\n"
      "for (const char* path : {\"/\", \"/tmp\", \"/scratch\", \"" +
      run.path() +
      "\", \"/home\", \"/work\"}) {\n"
      "  if (DIR* folder = opendir(path)) {\n"
      "    while (dirent* one = readdir(folder)) std::cout << \"IN \" << path << ' ' << one->d_name << "
      "'\\n';\n"
      "    closedir(folder);\n  }\n}\n"
      "extern char** environ;\nfor (char** e = environ; *e; ++e) std::cout << \"ENV \" << *e << '\\n';\n"
      "std::cout << \"DONE\\n\";");
  CHECK_MESSAGE(has(said, "DONE"), said);
  CHECK_MESSAGE(!has(said, "READ "), said);
  CHECK_MESSAGE(!has(said, "SECRET"), said);
  CHECK_MESSAGE(!has(said, "journal"), said);
  CHECK_MESSAGE(has(said, "IN /scratch program"), said);
  CHECK_MESSAGE(!has(said, "IN /home "), said);
  CHECK_MESSAGE(!has(said, "KEVO"), said);
  line_task::fixture f;
  const auto built_with = [&](const std::string& line) {
    return f.fitness.run_scratch(
        single_file_program("cpp", "try.cpp",
                            line + "\n#include <cstdio>\nint main() { std::puts(\"RAN\"); }\n"),
        false, {});
  };
  CHECK(has(built_with("#include \"" + secret + "\""), "It does not build."));
  CHECK(has(built_with("asm(\".incbin \\\"" + secret + "\\\"\");"), "It does not build."));
  CHECK(has(built_with("#include <Eigen/Core>"), "It does not build."));
}

TEST_CASE("a program of one's own has no network, starts no process and leaves none behind") {
  if (!sandboxed_or_skip()) return;
  const std::string network = said_by(
      "for (int family : {AF_INET, AF_INET6, AF_UNIX}) {\n"
      "  const int s = socket(family, SOCK_STREAM, 0);\n"
      "  std::cout << (s >= 0 ? \"SOCKET \" : \"none \") << family << '\\n';\n}");
  CHECK_MESSAGE(!has(network, "SOCKET"), network);
  CHECK_MESSAGE(has(network, "none 2"), network);
  const std::string bomb = said_by(
      "int forks = 0, threads = 0;\nfor (int i = 0; i < 200; ++i) {\n"
      "  const pid_t p = fork();\n  if (p == 0) { for (;;) pause(); }\n  forks += p > 0;\n}\n"
      "std::vector<std::thread> all;\ntry { for (int i = 0; i < 500; ++i) { all.emplace_back([] { for (;;) "
      "pause(); }); ++threads; } } catch (...) {}\n"
      "std::printf(\"FORKS %d THREADS %s\\n\", forks, threads < 20 ? \"few\" : \"many\");\n"
      "std::fflush(stdout); _exit(system(\"/bin/true\") == 0 ? 9 : 0);");
  CHECK_MESSAGE(has(bomb, "FORKS 0 THREADS few"), bomb);
  CHECK_MESSAGE(!has(bomb, "exit code 9"), bomb);
  const std::string others = said_by(
      "int hit = 0;\nfor (int p = -1; p < 40000; ++p) hit += p != 0 && p != getpid() && p != 1 && p != -1 && "
      "kill(p, 0) == 0;\nstd::printf(\"HIT %d\\n\", hit);");
  CHECK_MESSAGE(has(others, "HIT 0"), others);
}

TEST_CASE("a program of one's own is ended in time, and its output, memory and files are bounded") {
  if (!sandboxed_or_skip()) return;
  const auto began = std::chrono::steady_clock::now();
  const std::string endless = said_by(
      "for (int s = 1; s < 32; ++s) signal(s, SIG_IGN);\nif (fork() == 0) setsid();\nstd::puts(\"BEGAN\");\n"
      "std::fflush(stdout);\nfor (;;) sleep(1);");
  CHECK_MESSAGE(has(endless, "was ended after 1"), endless);  // 10 s, and what a busy machine is late
  CHECK_MESSAGE(has(endless, "BEGAN"), endless);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));
  const std::string loud = said_by("for (;;) std::puts(\"0123456789012345678901234567890123456789\");");
  CHECK_MESSAGE(has(loud, "was ended: it printed more than 1 MiB"), loud.substr(0, 200));
  CHECK(loud.size() < 20000);
  const std::string disk = said_by(
      "long written = 0;\nstd::vector<char> block(1 << 20, 'x');\nsignal(SIGXFSZ, SIG_IGN);\n"
      "for (int i = 0; i < 300; ++i) {\n"
      "  const int f = open((\"/tmp/f\" + std::to_string(i)).c_str(), O_CREAT | O_WRONLY, 0600);\n"
      "  ssize_t n = 0;\n  while (f >= 0 && written < (4L << 30) && (n = write(f, block.data(), "
      "block.size())) > 0)"
      " written += n;\n  close(f);\n}\n"
      "std::printf(\"WROTE %s\\n\", written <= (17 << 20) ? \"little\" : \"much\");\n"
      "for (const char* p : {\"/scratch/x\", \"/x\", \"/usr/x\", \"/lib/x\", \"/dev/x\"}) "
      "if (open(p, O_CREAT | O_WRONLY, 0600) >= 0) std::printf(\"OPENED %s\\n\", p);");
  CHECK_MESSAGE(has(disk, "WROTE little"), disk);
  CHECK_MESSAGE(!has(disk, "OPENED"), disk);
  const std::string memory = said_by(
      "long got = 0;\nfor (int i = 0; i < 100; ++i) {\n"
      "  for (int how : {MAP_PRIVATE, MAP_SHARED}) {\n"
      "    void* p = mmap(nullptr, 1L << 28, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS | MAP_NORESERVE, "
      "-1, 0);\n"
      "    got += p != MAP_FAILED;\n  }\n}\nstd::printf(\"GOT %s\\n\", got <= 20 ? \"bounded\" : "
      "\"unbounded\");");
  CHECK_MESSAGE(has(memory, "GOT bounded"), memory);
}

TEST_CASE("without a sandbox nothing is run") {
  auto settings = line_task::fixture::settings({});
  settings.sandbox = sandbox_mode::off;
  cpu_fitness off(line_task::example(), settings);
  const std::string said = off.run_scratch(scratch("std::puts(\"RAN\");"), false, {});
  CHECK(has(said, "without a sandbox"));
  CHECK(!has(said, "RAN"));
}

TEST_CASE("counts come from counters, from cachegrind, or it is said that there are none") {
  if (!sandboxed_or_skip()) return;
  const std::string said = said_by(
      "volatile int sum = 0;\nfor (int i = 0; i < 1000000; ++i) sum = sum + i;\nstd::puts(\"SUMMED\");",
      true);
  CHECK_MESSAGE(has(said, "SUMMED"), said);
  CHECK_MESSAGE((has(said, " instructions") || has(said, "valgrind is not installed either")), said);
  CHECK_MESSAGE(!has(said, "gave no figures"), said);
}

TEST_CASE("what cachegrind printed, in a line") {
  CHECK(
      cachegrind_line("==7== I   refs:      12,345,678\n==7== I1  misses:         1,200\n==7== \n"
                      "==7== D   refs:       4,567,890  (3,000,000 rd   + 1,567,890 wr)\n"
                      "==7== D1  misses:        56,789  (   50,000 rd   +     6,789 wr)\n"
                      "==7== LLd misses:         9,876  (    8,000 rd   +     1,876 wr)\n"
                      "==7== D1  miss rate:        1.2% (      1.7%     +       0.4%  )\n"
                      "==7== LLd miss rate:        0.2% (      0.3%     +       0.1%  )\n") ==
      "12,345,678 instructions, 4,567,890 loads and stores, 56,789 misses of the first-level cache, 9,876 "
      "misses of the last-level cache, 1.2% of the accesses miss the first level, 0.2% of the accesses miss "
      "the last level");
  CHECK(cachegrind_line("nothing\n").empty());
}

TEST_CASE("the loops of a draft are shown, and why one does not build") {
  if (!sandboxed_or_skip()) return;
  line_task::fixture f;
  const std::string said = f.fitness.assembly(*line_task::candidate(line_task::right), {}, {});
#if defined(__x86_64__)
  CHECK_MESSAGE(has(said, "loop in run, depth 1"), said);
  CHECK_MESSAGE(has(said, "llvm-mca"), said);
#endif
  CHECK(has(f.fitness.assembly(*line_task::candidate("broken;"), {}, {}), "It does not build."));
  CHECK(has(f.fitness.assembly(*line_task::candidate(line_task::right), "absent", {}), "No function"));
  CHECK(has(f.fitness.assembly(single_file_program("python", "a.py", "x = 1\n"), {}, {}), "error: "));
}
