#include "fitness/cpu/cpp_programs.hpp"

#include <mutex>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/build/build_choices.hpp"
#include "fitness/build/libraries.hpp"
#include "fitness/build/object_measures.hpp"
#include "fitness/build/same_object.hpp"
#include "fitness/cpu/paired.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/worker/thread_runtime.hpp"
#include "src/base/text/renamed_file.hpp"

namespace kevo {
namespace {

compiler_settings compiler_for(const cpu_settings& settings, bool trusted) {
  compiler_settings result;
  if (!settings.cache_dir.empty())
    result.cache_folder = settings.cache_dir + (trusted ? "/trusted" : "/builds");
  result.sandbox = settings.sandbox;
  result.limits.wall_s = settings.limits.build_s;
  result.cpus = settings.build_processors;
  if (trusted) result.hidden.clear();
  return result;
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// Without <chrono>, whose text takes a second to compile.
program pacer_for(const task& t) {
  auto text =
      "#include <cstdint>\n#include <ctime>\nusing std::int8_t, std::int16_t, std::int32_t, std::int64_t, "
      "std::uint8_t, std::uint16_t, std::uint32_t;\n"
      "static int64_t now_ns() {\n  timespec now;\n  clock_gettime(CLOCK_MONOTONIC, &now);\n"
      "  return int64_t{1000000000} * now.tv_sec + now.tv_nsec;\n}\n" +
      prototype(t) +
      fmt::format(" {{\n  const int64_t end = now_ns() + {:.0f};\n  while (now_ns() < end) {{\n  }}\n}}\n",
                  pace_ns);
  return single_file_program("cpp", "pacer.cpp", std::move(text));
}

std::vector<std::string> with_choices(std::vector<std::string> flags, const build_choices& chosen) {
  const auto words = cpp_words(chosen);
  flags.insert(flags.end(), words.begin(), words.end());
  return flags;
}

struct compilers {
  std::shared_ptr<const task> t;
  cpu_settings settings;
  running_builds* running;
  compiler candidates;
  compiler trusted;
  // Link programs while the processors are held for a timing, when other builds stand still.
  compiler placed_candidates;
  compiler placed_trusted;
  // What models are told of the compiler.
  std::once_flag asked;
  std::string compiler_version;
  std::string instruction_sets;

  compilers(std::shared_ptr<const task> subject, cpu_settings s, running_builds* r)
      : t(std::move(subject)),
        settings(std::move(s)),
        running(r),
        candidates(compiler_for(settings, false), running),
        trusted(compiler_for(settings, true), running),
        placed_candidates(compiler_for(settings, false)),
        placed_trusted(compiler_for(settings, true)) {}

  build_request trusted_request(trusted_role role, const baseline* given) const {
    const program source = role == trusted_role::reference ? t->reference->source
                           : role == trusted_role::pacer   ? pacer_for(*t)
                                                           : given->source;
    auto link = given != nullptr ? given->link : std::vector<std::string>();
    for (auto& library : link) {
      if (library.rfind('-', 0) != 0) library.insert(0, "-l");
    }
    const auto entry = role == trusted_role::reference ? reference_entry(*t) : candidate_entry(*t);
    // What a task's own programs choose is the task's choice, fast math included.
    const auto chosen = build_choices_of(source, build_family::cpp, {true, {}});
    return {source, entry, settings.compiler, with_choices(settings.flags, chosen), std::move(link)};
  }

  build_request candidate_request(const program& source, const build_choices& chosen) const {
    return {source, candidate_entry(*t), settings.compiler, with_choices(settings.flags, chosen),
            {},     fast_math_of(*t)};
  }

  std::string build_trusted(trusted_role role, const baseline* given, const std::stop_token& stop,
                            const std::string& who) {
    const auto request = trusted_request(role, given);
    const auto& source = request.source;
    const auto& file = source.files.front().path;
    const auto built = trusted.build(request, stop);
    if (built.ok) return built.object_path;
    error_place place;
    place.file = t->file;
    const auto said = built.diagnostics.empty() ? joined(built.reasons) : built.diagnostics;
    throw error(
        error_code::input,
        "the " + who + " does not build: " + with_renamed_file(said, file, source_file_of(*t, source)),
        place);
  }
};

}  // namespace

program_kind cpp_programs(const std::shared_ptr<const task>& t, const cpu_settings& settings,
                          running_builds* running) {
  require_runnable(*t);
  const auto own = std::make_shared<compilers>(t, settings, running);
  program_kind kind;
  kind.backend = "cpu";
  kind.protocol = "cpu 14";
  kind.refusal = [](const program& source) {
    if (source.language == "cpp") return std::string();
    return "the CPU backend supports programs in cpp, not in " + source.language +
           (source.language == "c" ? ": name the file .cpp, and its entry extern \"C\" void run(...)" : "");
  };
  kind.build = [own](const program& source, std::stop_token stop) {
    const auto fast = fast_math_of(*own->t);
    build_choices chosen;
    try {
      chosen = build_choices_of(source, build_family::cpp, fast);
    } catch (const error& failure) {
      if (failure.code() != error_code::input) throw;
      build_result refused;
      refused.reasons.emplace_back(failure.what());
      return refused;
    }
    auto built = own->candidates.build(own->candidate_request(source, chosen), std::move(stop));
    built.choices = chosen.text();
    return built;
  };
  kind.build_trusted = [own](trusted_role role, const baseline* given, const std::stop_token& stop,
                             const std::string& who) { return own->build_trusted(role, given, stop, who); };
  kind.place = [own](const program& source, const baseline* trusted, std::size_t first, std::size_t count,
                     std::stop_token stop) {
    if (trusted != nullptr)
      return own->placed_trusted.place(own->trusted_request(trusted_role::baseline, trusted), first, count,
                                       std::move(stop));
    const auto chosen = build_choices_of(source, build_family::cpp, fast_math_of(*own->t));
    return own->placed_candidates.place(own->candidate_request(source, chosen), first, count,
                                        std::move(stop));
  };
  kind.worker_for = [own](worker_settings worker, const std::string& object,
                          std::optional<trusted_role> role) {
    // The pacing program is treated as a candidate is.
    const bool as_candidate = !role || role == trusted_role::pacer;
    worker.libraries = as_candidate ? thread_libraries(own->settings.flags) : library_closure(object);
    return worker;
  };
  kind.same = [](const std::string& one, const std::string& other) { return same_object(one, other); };
  kind.measures = [own](const build_result& built) {
    return measures_of_object(built.object_path, own->settings.sandbox, "kevo_", own->running);
  };
  kind.tell = [own](evaluation& e) {
    e.context["compiler"] = own->settings.compiler;
    e.context["flags"] = joined(own->settings.flags);
    std::call_once(own->asked, [&] {
      own->compiler_version = own->candidates.version_of(own->settings.compiler);
      own->instruction_sets =
          own->candidates.instruction_sets_of(own->settings.compiler, own->settings.flags);
    });
    e.context["compiler_version"] = own->compiler_version;
    e.context["instruction_sets"] = own->instruction_sets;
  };
  kind.identity = [own] {
    return own->candidates.version_of(own->settings.compiler) + ' ' + joined(own->settings.flags);
  };
  kind.words = [own] { return own->settings.compiler + ' ' + joined(own->settings.flags); };
  return kind;
}

}  // namespace kevo
