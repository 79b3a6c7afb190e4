#include "src/export/parquet.hpp"

#include <filesystem>
#include <system_error>

#include <kevo/error.hpp>

#include "fitness/build/python_packages.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo {
namespace fs = std::filesystem;

void write_parquet(const std::string& lines, const std::string& parquet, const std::string& python) {
  const python_tools tools = find_python(
      {.package = "pyarrow",
       .people_say = "pyarrow",
       .beside = {"python"},
       .check = "import pyarrow",
       .purpose = "which writes Parquet",
       .hint = "pip install pyarrow, and name that Python with --python or in KEVO_PYTHON; or export "
               "as JSON Lines"},
      python, false);
  const std::string part = fs::absolute(parquet).string() + ".part";
  launch_spec spec;
  spec.argv = {
      tools.python, "-I",          "-B", "-c", std::string(parquet_script()), fs::absolute(lines).string(),
      part,         tools.packages};
  spec.environment = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"};
  spec.sandbox = sandbox_mode::off;  // it is kevo's own script, and writes where the user says
  spec.limits.wall_s = 24 * 3600;
  const exit_report report = kevo::run(spec);
  std::error_code failed;
  if (report.ok()) fs::rename(part, parquet, failed);
  if (report.ok() && !failed) return;
  fs::remove(part);
  const auto tail = report.err.size() > 600 ? report.err.substr(report.err.size() - 600) : report.err;
  throw error(error_code::environment,
              failed ? "cannot write this file: " + failed.message()
                     : "writing Parquet failed: Python " + describe(report) + "\n" + tail,
              {.file = parquet, .key = {}});
}

}  // namespace kevo
