#include "fitness/build/compiler_process.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string_view>

#include <kevo/error.hpp>

#include "src/base/text/useful_line.hpp"

namespace kevo {

launch_spec compiler_launch(const process_limits& limits, sandbox_mode sandbox,
                            const std::vector<int>& cpus) {
  launch_spec spec;
  spec.limits = limits;
  spec.sandbox = sandbox;
  spec.policy = syscall_policy::builder;
  spec.cpus = cpus;
  return spec;
}

std::vector<std::string> library_flags(const std::vector<std::string>& flags) {
  constexpr std::array<std::string_view, 8> ways = {",-B",         "-group",     "as-needed", "whole-archive",
                                                    "-push-state", "-pop-state", ",-l",       ",--library"};
  std::vector<std::string> found;
  bool any = false;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const auto& flag = flags[i];
    const auto says = [&](std::string_view way) { return flag.find(way) != std::string::npos; };
    if (flag == "-l") {
      any = true;
      found.push_back(flag);
      if (i + 1 < flags.size()) found.push_back(flags[++i]);
    } else if (flag.starts_with("-l") ||
               (flag.starts_with("-Wl,") && std::any_of(ways.begin(), ways.end(), says))) {
      any = any || flag.starts_with("-l") || says(",-l") || says(",--library");
      found.push_back(flag);
    }
  }
  return any ? found : std::vector<std::string>();
}

bool acceptable_file_name(const std::string& path) {
  if (path.empty() || path.size() > 200 || path.front() == '/' || path.back() == '/') return false;
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');) {
    if (part.empty() || part == "." || part == ".." || part.front() == '-') return false;
  }
  return path.find('\0') == std::string::npos;
}

std::optional<std::string> unfit_file_name(const program& source, const std::string& own) {
  std::set<std::string> names;
  if (!own.empty()) names.insert(own);
  for (const auto& file : source.files) {
    if (!acceptable_file_name(file.path) || !names.insert(file.path).second) return file.path;
  }
  for (const std::string& name : names) {
    const auto below = names.lower_bound(name + '/');
    if (below != names.end() && below->starts_with(name + '/')) return *below;
  }
  return std::nullopt;
}

void require_own_end(const exit_report& report, const std::string& program, const std::stop_token& stop) {
  if (report.kind == exit_kind::cancelled) {
    if (stop.stop_requested()) throw error(error_code::interrupted, "interrupted during a build");
    throw error(error_code::environment, "a build was killed by another process");
  }
  if (report.kind == exit_kind::not_started)
    throw error(error_code::environment, "cannot run the compiler " + program + ": " + report.err);
}

std::string cut_diagnostics(std::string text, std::uint64_t bytes) {
  if (text.size() <= bytes) return text;
  text.resize(static_cast<std::size_t>(bytes));
  return text + "\n... (cut)\n";
}

std::string first_error(const std::string& diagnostics, const std::string& otherwise) {
  std::string line = useful_line(diagnostics);
  // Without an error among them, the compiler's way to end says more than a note does.
  if (!otherwise.empty() && !states_error(line)) line = otherwise;
  if (line.size() > 300) line.resize(300);
  return line;
}

std::string rule_of_headers(const std::string& first) {
  if (first.find("fatal error: ") == std::string::npos) return {};
  const auto ends = [&](std::string_view words) { return first.find(words) != std::string::npos; };
  if (!ends(": No such file or directory") && !ends(" file not found")) return {};
  return "a program has the headers of C and C++ and those among its own files; libraries such as Eigen are "
         "hidden from it";
}

std::string at_own_place(const std::string& first, const std::string& diagnostics, const std::string& entry,
                         const std::string& entry_text) {
  constexpr std::string_view error_mark = ": error: ";
  constexpr std::string_view declaration_mark = "  // what the task calls";
  const auto message = first.find(error_mark);
  if (!first.starts_with(entry + ':') || message == std::string::npos) return first;
  std::string place;
  std::istringstream lines(diagnostics);
  for (std::string line; place.empty() && std::getline(lines, line);) {
    const auto note = line.find(": note: ");
    if (note == std::string::npos || line.starts_with(entry + ':')) continue;
    if (line.find("previous", note) != std::string::npos ||
        line.find("declared here", note) != std::string::npos)
      place = line.substr(0, note);
  }
  if (place.empty()) return first;
  std::string text = place + first.substr(message);
  std::istringstream declarations(entry_text);
  for (std::string line; std::getline(declarations, line);) {
    if (line.ends_with(declaration_mark))
      text += "; the task calls " + line.substr(0, line.size() - declaration_mark.size());
  }
  return text;
}

}  // namespace kevo
