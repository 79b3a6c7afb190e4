#pragma once
// The registry of plug-ins: it maps the names in a config to factories. Shipped plug-ins and those in shared
// objects are registered in the same way.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/nearest.hpp>
#include <kevo/error.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/filter.hpp>
#include <kevo/plugin_abi.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/reward.hpp>
#include <kevo/screen.hpp>
#include <kevo/select.hpp>
#include <kevo/services.hpp>
#include <kevo/settings.hpp>
#include <kevo/stop.hpp>
#include <kevo/task.hpp>
#include <kevo/vary.hpp>
#include <kevo/version.hpp>

namespace kevo {

class registry;

/// What a factory receives besides the settings of its plug-in.
struct build_context {
  std::shared_ptr<const kevo::task> task;  ///< null if keys are only described (`settings::probe`)
  std::string directory;                   ///< folder of the config file, the base of relative paths
  std::string run_directory;               ///< folder of the run; empty for evaluations outside a run
  std::uint64_t seed = 1;                  ///< seed of the run
  std::size_t builds = 1;                  ///< maximum number of evaluations that run at once
  const registry* plugins = nullptr;       ///< for plug-ins that contain others (any_of, islands)
  kevo::services services;  ///< objects that the program offers to plug-ins, such as language models
};

/// The factories of one kind of plug-in, by name.
template <class T>
class plugin_table {
 public:
  /// Reads the settings of a plug-in and makes it.
  using factory = std::function<T(settings&, const build_context&)>;

  /// Adds a plug-in. `doc` is a description in one line for the reference of all keys.
  /// @throws kevo::error (input) if the name is in use
  void add(std::string name, factory make, std::string doc = {}) {
    if (!entries_.try_emplace(name, entry{std::move(make), std::move(doc)}).second) {
      throw error(error_code::input, "a plug-in with the name '" + name + "' is already registered", {},
                  "choose another name");
    }
  }
  /// Whether a plug-in has this name.
  bool contains(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  /// The names of all plug-ins, in alphabetical order.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : entries_) all.push_back(name);
    return all;
  }
  /// The description of a plug-in; empty if the name is unknown.
  std::string doc(std::string_view name) const {
    const auto it = entries_.find(name);
    return it == entries_.end() ? std::string() : it->second.doc;
  }
  /// Makes the plug-in that the key `key` of `reader` names.
  /// @throws kevo::error (input) if the name is unknown; the message suggests the nearest known name
  T make(settings& reader, const build_context& context, const std::string& key = "type",
         const std::optional<std::string>& def = std::nullopt) const {
    const std::string name = reader.text(key, {.def = def, .doc = "name of the plug-in", .one_of = names()});
    return make_named(name, reader, context);
  }
  /// Makes the plug-in `name`, which must be registered.
  T make_named(std::string_view name, settings& reader, const build_context& context) const {
    return entries_.find(name)->second.make(reader, context);
  }

 private:
  struct entry {
    factory make;
    std::string doc;
  };
  std::map<std::string, entry, std::less<>> entries_;
};

/// All plug-ins of a program. Not thread-safe; all plug-ins must be added before a run starts.
class registry {
 public:
  plugin_table<any_selector> selectors;       ///< choose parents (section `select` of a config)
  plugin_table<any_variation> operators;      ///< make new programs (`vary.operators`)
  plugin_table<any_portfolio> portfolios;     ///< choose among operators (`vary.portfolio`)
  plugin_table<any_archive> archives;         ///< keep elites (`archive`)
  plugin_table<any_fitness> fitness;          ///< evaluate programs (`fitness.backend`)
  plugin_table<any_ranker> rankers;           ///< order proposals (`screen`)
  plugin_table<any_proposal_filter> filters;  ///< drop proposals (`filter`)
  plugin_table<reward_rule> reward_rules;     ///< without which a program earns 0 (`kevo export --rule`)
  /// The key of a stop rule is its name: `{evaluations: 400}`. The factory reads that key.
  plugin_table<any_stop_rule> stop_rules;

  /// Makes the stop rule that a key of `reader` names.
  /// @throws kevo::error (input) if not exactly one key names a stop rule
  any_stop_rule make_stop_rule(settings& reader, const build_context& context) const {
    std::string found;
    for (const auto& key : reader.keys()) {
      if (!stop_rules.contains(key)) continue;
      if (!found.empty())
        reader.fail(key, "a map must contain one stop rule only",
                    "write several rules as a list: any: [{...}, {...}]");
      found = key;
    }
    if (found.empty()) {
      const auto keys = reader.keys();
      const std::string wrong = keys.empty() ? std::string() : keys.front();
      reader.fail(wrong, "unknown stop rule", "known: " + joined(stop_rules.names()));
    }
    return stop_rules.make_named(found, reader, context);
  }

 private:
  static std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }
};

/// The tag of the plug-in interface. It is equal for a plug-in and a program only if they agree in version,
/// compiler, and the layout of all types that pass between them.
constexpr std::uint64_t plugin_abi() {
  detail::abi_hasher hash;
  hash.add(KEVO_VERSION_MAJOR).add(KEVO_VERSION_MINOR).add(KEVO_VERSION_PATCH);
  hash.add("clone 2");  // no layout shows that the copies of plug-ins are returned as plain pointers
  hash.add("evaluated_after_stop");  // nor which virtual functions an interface has
  detail::add_compiler(hash);
  detail::add_structs(hash);
  detail::add_types(hash);
  hash.type<build_context>("build_context").type<registry>("registry");
  return hash.finish();
}

}  // namespace kevo

/// Defines the entry point of a plug-in: `KEVO_PLUGIN(registry) { ... }` in a shared object that a config
/// names under `plugins:`. Also defines the tag by which the program refuses a plug-in that was built with
/// other headers.
#define KEVO_PLUGIN(reg)                        \
  extern "C" std::uint64_t kevo_plugin_abi() {  \
    return kevo::plugin_abi();                  \
  }                                             \
  extern "C" void kevo_plugin(kevo::registry&); \
  extern "C" void kevo_plugin(kevo::registry& reg)
