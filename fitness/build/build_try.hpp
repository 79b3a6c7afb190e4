#pragma once
// One try to build a program: its compilers, one after the other, each in a sandbox of its own that has the
// files which it needs.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <kevo/random.hpp>

#include "fitness/build/compiler.hpp"
#include "fitness/process/process.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "src/base/process/descriptor.hpp"

namespace kevo::detail {

/// What kevo's own source is called among those of a program.
inline constexpr const char* entry_file = "kevo_entry.cpp";

/// A launch of a compiler; what else it is told and sees is still to be said.
launch_spec spec_of_compiler(const compiler_settings& settings, const std::string& program);

/// [s] "60", "0.5".
std::string seconds_text(double value);

/// One try. Gives objects until one of its steps fails.
class build_try {
 public:
  /// @param settings, request, stop must outlive this @param pausable see `compiler`
  /// @param program path of the compiler
  build_try(const compiler_settings& settings, running_builds* pausable, const build_request& request,
            std::string program, const std::stop_token& stop);

  /// Links the program, which is compiled first if it has not been.
  /// @param places draws where its code and data lie; nothing: where the linker puts them
  /// @return the object, until the next call; nothing if a step failed, or the object cannot be used
  descriptor link(const std::optional<rng>& places = std::nullopt);

  /// Of all steps so far: what compilers said, and why a step failed.
  build_result& result() { return result_; }
  /// Whether another try may end otherwise.
  bool again() const { return again_; }

 private:
  bool compile();
  bool compile_entry();
  bool link_to_file(const std::optional<rng>& places);
  bool step(const launch_spec& spec);
  bool succeeded(const std::string& first);
  descriptor made_object(std::uint64_t& size);
  void write_sources();
  void explain_missing_function();

  const compiler_settings& settings_;
  running_builds* pausable_;
  const build_request& request_;
  std::string program_;
  const std::stop_token& stop_;
  // Each folder is seen by the compilers that need it alone: what compiles the program sees its sources, and
  // never the entry, whose name is a secret.
  scratch_folder scratch_;
  std::string sources_;
  std::string units_;
  std::string entry_;
  std::string output_;
  bool compiled_ = false;
  bool fixed_thread_locals_ = true;
  std::string entry_name_;  // of an entry that has been compiled by itself
  build_result result_;
  bool again_ = false;
};

}  // namespace kevo::detail
