// A plug-in: a shared object that `kevo run` loads because a config names it under `plugins:`. It
// registers an operator; kevo need not be built again.

#include <string>

#include <kevo/registry.hpp>

namespace {

/// Changes the number of a `#pragma GCC unroll`, or adds such a line before the last loop of the source.
struct unroll {
  std::int64_t most = 8;

  std::string name() const { return "unroll"; }

  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    kevo::program child = *request.parents.front()->program;
    std::string& text = child.files.front().text;
    const std::string line = "#pragma GCC unroll " + std::to_string(random.integer(1, most)) + '\n';
    if (const auto old = text.find("#pragma GCC unroll"); old != std::string::npos) {
      text.replace(old, text.find('\n', old) + 1 - old, line);
    } else if (const auto loop = text.rfind("for ("); loop != std::string::npos) {
      text.insert(text.rfind('\n', loop) + 1, line);
    } else {
      return kevo::no_proposal{"there is no loop"};
    }
    return kevo::proposal{child, line.substr(0, line.size() - 1)};
  }
};
static_assert(kevo::variation<unroll>);

}  // namespace

KEVO_PLUGIN(registry) {
  registry.operators.add(
      "unroll",
      [](kevo::settings& from, const kevo::build_context&) {
        return kevo::any_variation(unroll{
            .most = from.integer("most", {.def = 8, .min = 2, .max = 64, .doc = "largest unroll factor"})});
      },
      "sets the unroll factor of an inner loop");
}
