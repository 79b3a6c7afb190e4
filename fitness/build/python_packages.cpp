#include "fitness/build/python_packages.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/sandbox/reachable.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/process/find_program.hpp"

namespace kevo {
namespace fs = std::filesystem;
namespace {

// What a Python says of a package. {0}: its name; {1}: the check.
constexpr const char* package_script = R"py(
import importlib.machinery, importlib.metadata, importlib.util, json, os, sys, sysconfig
sys.path[:0] = sys.argv[1:]
found = importlib.util.find_spec('{0}')
origin = found.origin if found else None
if origin:
    {1}
    paths = sysconfig.get_paths()
    folders = {{paths['stdlib'], paths['platstdlib'], os.path.join(sys.base_prefix, 'lib')}}
    print(json.dumps({{'packages': os.path.dirname(os.path.dirname(os.path.realpath(origin))),
                      'version': importlib.metadata.version('{0}'),
                      'python': os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable),
                      'folders': sorted(folders)}}))
)py";

struct place {
  std::string python;
  std::string packages;  // to look in besides Python's own; may be empty
};

std::vector<place> places_of(const python_wish& wish, const std::string& configured) {
  const char* variable = std::getenv("KEVO_PYTHON");  // NOLINT(concurrency-mt-unsafe): nothing sets variables
  const std::string named = !configured.empty() ? configured : variable != nullptr ? variable : "";
  std::error_code code;
  std::vector<place> places;
  // A folder of packages, as `pip install --target` makes it, is read by the usual Python.
  const auto with_usual_python = [&places](const std::string& packages) {
    places.push_back({"python3", packages});
    places.push_back({"/usr/bin/python3", packages});
  };
  if (fs::is_directory(named, code)) {
    with_usual_python(fs::absolute(named, code).string());
    return places;
  }
  if (!named.empty()) return {{named, {}}};
  const fs::path beside = fs::read_symlink("/proc/self/exe", code).parent_path();
  for (const auto& folder : {beside, beside.parent_path(), beside.parent_path().parent_path()}) {
    for (const auto& name : wish.beside) {
      if (fs::is_directory(folder / name / wish.package, code)) with_usual_python((folder / name).string());
    }
  }
  with_usual_python({});
  return places;
}

constexpr double longest_answer_s = 120;  // on a machine that is busy with other work

// @param late set where the Python did not answer in time
std::optional<python_tools> ask(const python_wish& wish, const place& where, bool& late) {
  const auto python = find_program(where.python);
  if (python.empty()) return std::nullopt;
  launch_spec spec;
  spec.argv = {python, "-I", "-B", "-c", fmt::format(package_script, wish.package, wish.check)};
  if (!where.packages.empty()) spec.argv.push_back(where.packages);
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  spec.sandbox = sandbox_mode::off;
  spec.limits.wall_s = longest_answer_s;
  const auto report = kevo::run(spec);
  late = report.kind == exit_kind::timed_out;
  if (!report.ok()) return std::nullopt;
  try {
    const auto said = parse_json_exactly(report.out).as_object();
    python_tools tools;
    const auto text = [&said](const char* key) { return std::string(said.at(key).as_string()); };
    tools.python = text("python");
    tools.packages = text("packages");
    tools.version = text("version");
    for (const auto& folder : said.at("folders").as_array()) tools.folders.emplace_back(folder.as_string());
    return tools;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

python_tools find_python(const python_wish& wish, const std::string& configured, bool contained) {
  std::string looked;
  for (const auto& where : places_of(wish, configured)) {
    bool late = false;
    auto tools = ask(wish, where, late);
    looked += (looked.empty() ? "" : ", ") + where.python;
    if (!where.packages.empty()) looked += " with the packages in " + where.packages;
    if (late) looked += fmt::format(" (it did not answer within {:.0f} s)", longest_answer_s);
    if (!tools) continue;
    const bool hidden = contained && ::geteuid() == 0 &&
                        !(kevo::detail::reachable_by_others(tools->python) &&
                          kevo::detail::reachable_by_others(tools->packages));
    if (!hidden) return *std::move(tools);
    looked += " (it has " + wish.people_say +
              ", but other users than root cannot read it, and the sandbox runs as nobody)";
  }
  throw error(error_code::environment,
              "no Python with " + wish.people_say + " was found, " + wish.purpose + "; looked at " + looked,
              {}, wish.hint);
}

std::vector<mount> mounts_of(const python_tools& tools) {
  auto mounts = toolchain_mounts(tools.python);
  auto folders = tools.folders;
  folders.push_back(tools.packages);
  for (const auto& folder : folders) {
    const bool seen = std::any_of(mounts.begin(), mounts.end(), [&](const mount& m) {
      return folder == m.inside || folder.starts_with(m.inside + '/');
    });
    if (!seen) mounts.push_back({folder, folder, false, true});
  }
  return mounts;
}

}  // namespace kevo
