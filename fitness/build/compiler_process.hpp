#pragma once
// What running a compiler on a candidate is like, whatever its language: how it is confined, what its files
// may be called, how its end and its words are read.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kevo/program.hpp>

#include "fitness/process/process.hpp"

namespace kevo {

/// A launch with the limits and rights of a compiler; what it runs and sees is still to be said.
launch_spec compiler_launch(const process_limits& limits, sandbox_mode sandbox, const std::vector<int>& cpus);

/// The flags that name libraries ("-lm", or "-l" and "m") and those for the linker that change how libraries
/// behind them are linked ("-Wl,-Bstatic", "-Wl,--start-group"), in their order; empty if none names a
/// library. They are repeated behind the source: linkers leave out libraries that nothing before them asked
/// for.
std::vector<std::string> library_flags(const std::vector<std::string>& flags);

/// Whether a file of a program may be called so: a relative path without "..", of at most 200 bytes, no part
/// of which could be taken for an option.
bool acceptable_file_name(const std::string& path);

/// The first of a program's file names that is not acceptable, stands twice, or cannot lie in one folder with
/// the others and a file called `own` (which may be empty), as "a" and "a/b" cannot.
std::optional<std::string> unfit_file_name(const program& source, const std::string& own = {});

/// Passes over every end that says something of the source.
/// @throws kevo::error (interrupted) if `stop` ended it; (environment) if somebody else did or it never began
void require_own_end(const exit_report& report, const std::string& program, const std::stop_token& stop);

/// Cut to a size; the beginning matters most, for there the first error is.
std::string cut_diagnostics(std::string text, std::uint64_t bytes);

/// The first line that states an error, at most 300 bytes; else `otherwise`; else the line that says most
/// (useful_line). Give it the whole output: what was cut may have been the error.
std::string first_error(const std::string& diagnostics, const std::string& otherwise);

/// Which headers a program has, if `first` says that one is missing; else empty.
std::string rule_of_headers(const std::string& first);

/// An error that a compiler finds in kevo's own file `entry`, where it declares and calls the program's
/// function, with the place of the program's declaration instead, and with what the task calls. `first`
/// itself if the error is elsewhere, or if no note of the compiler names such a place.
/// @param first the first error of `diagnostics`, as "FILE:LINE:COLUMN: error: TEXT"
/// @param entry_text of `entry`; a line that ends with "// what the task calls" is the declaration
std::string at_own_place(const std::string& first, const std::string& diagnostics, const std::string& entry,
                         const std::string& entry_text);

}  // namespace kevo
