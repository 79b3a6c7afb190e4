#include "operators/rewrite/parser.hpp"

#include <charconv>

#include <kevo/error.hpp>

#include "fitness/process/own_program.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::rewriting {

std::string parser_program() {
#ifdef KEVO_HAS_LIBCLANG
  return own_program("kevo-parse-cpp", "KEVO_PARSE_CPP");
#else
  throw error(error_code::environment,
              "the operator 'rewrite' needs libclang, and this kevo was built without it", {},
              "install libclang-dev and build kevo again");
#endif
}

std::vector<std::optional<parsed_source>> parse(const std::string& program,
                                                const std::vector<std::string>& sources, std::stop_token stop,
                                                dialect of) {
  launch_spec spec;
  spec.argv = {program};
  spec.environment = {"LC_ALL=C", "PATH=/nonexistent"};
  spec.sandbox = sandbox_mode::off;  // the program opens no file once it reads a source
  spec.limits.wall_s = 20 + 0.2 * static_cast<double>(sources.size());
  spec.limits.cpu_s = spec.limits.wall_s;
  spec.limits.output_bytes = 64U << 20U;
  for (const auto& source : sources)
    spec.standard_input += std::to_string(source.size()) + (of == dialect::cuda ? " cuda\n" : "\n") + source;
  const exit_report report = run(spec, std::move(stop));
  if (report.kind == exit_kind::not_started)
    throw error(error_code::environment, "kevo-parse-cpp could not be started: " + report.err);
  std::vector<std::optional<parsed_source>> result(sources.size());
  std::string_view rest = report.out;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t line = rest.find('\n');
    std::size_t size = 0;
    if (line == std::string_view::npos ||
        std::from_chars(rest.data(), rest.data() + line, size).ptr != rest.data() + line ||
        rest.size() - line - 1 < size)
      break;
    result[i] = read_tree(sources[i], rest.substr(line + 1, size));
    rest.remove_prefix(line + 1 + size);
  }
  return result;
}

}  // namespace kevo::rewriting
