#pragma once
// What all programs have in common that judge candidates for kevo: what they see of this machine, how they
// get the candidate, and what their end means.

#include <array>
#include <cstddef>
#include <stop_token>
#include <string>

#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

#include "fitness/process/process.hpp"

namespace kevo {

/// Text for operators is cut to this size.
inline constexpr std::size_t feedback_bytes = 16384;

/// The folders of the system's software. A user's program is trusted more than a candidate: it sees them.
inline constexpr std::array<const char*, 8> system_software = {
    "/usr", "/bin", "/lib", "/lib32", "/lib64", "/opt", "/etc/alternatives", "/etc/ld.so.cache"};

/// The end of a text, at most about so long.
std::string tail(const std::string& text, std::size_t bytes);

/// Whether a path is a folder or lies below it.
bool lies_in(const std::string& path, const std::string& folder);

/// A folder that a program runs in, absolute; empty if `named` is.
/// @throws kevo::error (input) if it is the root
std::string working_folder(const std::string& named);

/// Whether a program has a file to judge. If not, the outcome and its reason are set: an operator's slip,
/// which a journal may hold, would end the run at every resume if it were thrown.
bool has_files(const program& candidate, evaluation& e);

/// Writes the candidate's files. False, with outcome and reason, if a name is not acceptable.
/// @throws kevo::error (environment) if a file cannot be written
bool write_candidate(const program& candidate, const std::string& folder, evaluation& e);

/// What the end of the program at `path` says of the candidate.
/// @throws kevo::error: interrupted, environment
outcome outcome_of(const exit_report& report, const std::string& path, const std::stop_token& stop);

/// What the program wrote to standard error explains a failure, whatever else is known. Of a valid candidate
/// it is mostly progress: it is kept only where there is no other feedback.
void add_error_output(evaluation& e, const std::string& said);

}  // namespace kevo
