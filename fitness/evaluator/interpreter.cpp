#include "fitness/evaluator/interpreter.hpp"

#include <algorithm>
#include <unistd.h>

#include <boost/json.hpp>

#include <kevo/error.hpp>

#include "fitness/command/judging.hpp"
#include "fitness/sandbox/reachable.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/process/find_program.hpp"

namespace kevo {
namespace {

constexpr const char* question =
    "import json, os, sys; print(json.dumps([sys.prefix, sys.base_prefix, "
    "os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))]))";

constexpr const char* advice =
    "fitness.python names an interpreter: python3, or the bin/python of a virtual environment";

bool is_system_software(const std::string& folder) {
  return std::any_of(system_software.begin(), system_software.end(),
                     [&](const char* part) { return lies_in(folder, part); });
}

/// A python3 of root's own (pyenv's, conda's) is of no use to the sandbox's user; the system's is.
std::string path_of(const std::string& named) {
  std::string path = find_program(named);
  const bool unreadable = ::geteuid() == 0 && !path.empty() && !detail::reachable_by_others(path);
  return unreadable && named == "python3" ? find_program("/usr/bin/python3") : path;
}

}  // namespace

python_interpreter find_interpreter(const std::string& named) {
  python_interpreter found;
  found.path = path_of(named);
  if (found.path.empty())
    throw error(error_code::environment, "there is no interpreter called " + named,
                {"", 0, 0, "fitness.python"}, advice);
  launch_spec spec;
  spec.argv = {found.path, "-I", "-B", "-c", question};
  spec.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  spec.sandbox = sandbox_mode::off;
  spec.limits.wall_s = 30;
  const auto report = run(spec);
  if (!report.ok())
    throw error(error_code::environment,
                found.path + " " + kevo::describe(report) + ": " + tail(report.err, feedback_bytes),
                {"", 0, 0, "fitness.python"}, advice);
  try {
    const auto said = parse_json_exactly(report.out).as_array();
    const auto text = [&said](std::size_t i) { return std::string(said.at(i).as_string()); };
    if (text(0) != text(1)) found.environment = text(0);
    for (std::size_t i = 0; i < said.size(); ++i) {
      const std::string folder = text(i);
      if (folder == "/" || is_system_software(folder) ||
          std::find(found.prefixes.begin(), found.prefixes.end(), folder) != found.prefixes.end())
        continue;
      found.prefixes.push_back(folder);
    }
  } catch (const std::exception&) {
    throw error(error_code::environment, found.path + " is not Python 3: it printed " + tail(report.out, 200),
                {"", 0, 0, "fitness.python"}, advice);
  }
  return found;
}

}  // namespace kevo
