#include "fitness/command/judging.hpp"

#include <filesystem>
#include <fstream>

#include <kevo/error.hpp>

#include "fitness/build/compiler_process.hpp"
#include "fitness/sandbox/scratch_folder.hpp"

namespace kevo {
namespace fs = std::filesystem;

std::string tail(const std::string& text, std::size_t bytes) {
  return text.size() <= bytes ? text : "... " + text.substr(text.size() - bytes);
}

bool lies_in(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + '/');
}

std::string working_folder(const std::string& named) {
  if (named.empty()) return {};
  std::string folder = fs::absolute(named).lexically_normal().string();
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  if (folder == "/") {
    throw error(error_code::input,
                "the working directory is the root folder, so that the program could read the whole disk",
                {"", 0, 0, "fitness.directory"}, "put the config and the program into a separate folder");
  }
  return folder;
}

bool has_files(const program& candidate, evaluation& e) {
  if (!candidate.files.empty()) return true;
  e.outcome = outcome::build_failed;
  e.reasons.emplace_back("the program contains no file");
  return false;
}

bool write_candidate(const program& candidate, const std::string& folder, evaluation& e) {
  if (const auto name = unfit_file_name(candidate)) {
    e.outcome = outcome::build_failed;
    e.reasons.push_back("this file name is not allowed: \"" + *name + '"');
    return false;
  }
  for (const auto& file : candidate.files) {
    const fs::path target = fs::path(folder) / file.path;
    std::error_code code;
    fs::create_directories(target.parent_path(), code);
    if (!(std::ofstream(target, std::ios::binary) << file.text)) {
      throw error(error_code::environment, "cannot write the candidate", {target.string(), 0, 0, {}});
    }
  }
  let_everyone_read(folder);
  return true;
}

outcome outcome_of(const exit_report& report, const std::string& path, const std::stop_token& stop) {
  switch (report.kind) {
    case exit_kind::cancelled:
      if (stop.stop_requested()) throw error(error_code::interrupted, "interrupted during an evaluation");
      throw error(error_code::environment, "another process killed the program during an evaluation");
    case exit_kind::not_started:
      throw error(error_code::environment, "cannot run " + path + ": " + report.err);
    case exit_kind::timed_out:
      return outcome::timed_out;
    case exit_kind::signalled:
      return outcome::crashed;
    case exit_kind::output_exceeded:
      return outcome::incorrect;
    case exit_kind::exited:
      return report.code == 0 ? outcome::valid : outcome::crashed;
  }
  return outcome::crashed;
}

void add_error_output(evaluation& e, const std::string& said) {
  if (said.find_first_not_of(" \t\r\n") == std::string::npos) return;
  if (e.feedback.empty()) {
    e.feedback = said;
  } else if (!e.valid()) {
    e.feedback += (e.feedback.ends_with('\n') ? "" : "\n");
    e.feedback += "The program wrote to standard error:\n" + said;
  }
}

}  // namespace kevo
