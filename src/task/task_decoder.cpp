#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/settings.hpp>

#include "fitness/torch/compiled_baseline.hpp"
#include "src/base/settings/json.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/task/decode.hpp"
#include "src/task/decode_calls.hpp"
#include "src/task/decode_constructor.hpp"
#include "src/task/decode_generator.hpp"
#include "src/task/decode_tensors.hpp"
#include "src/task/decode_workload.hpp"
#include "src/task/set_definitions.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace kevo {
namespace {

namespace json = boost::json;
using namespace task_decoding;  // NOLINT(google-build-using-namespace): the other half of this decoder

constexpr std::array computation = {"axes", "inputs", "outputs", "reference", "workloads"};

bool is_empty(const settings_node& given) {
  return given.type == settings_node::kind::null || (given.is_map() && given.entries.empty()) ||
         (given.is_list() && given.items.empty());
}

class decoder {
 public:
  decoder(const settings_node& root, const source_reader& read, const std::vector<settings_node>& traces,
          const contents_reader& contents)
      : reader_(root), read_(read), traces_(traces), pointers_(root.place.key == "/") {
    context_.read = contents;
    context_.strict = !pointers_;
  }

  task decode() {
    task_.file = reader_.place().file;
    task_.name = reader_.text("name", {.doc = "name of the task"});
    if (task_.name.empty()) reader_.fail("name", "a task needs a name", "write name: NAME");
    if (pointers_ && reader_.has("type") && !reader_.has("op_type")) {
      reader_.fail("type", "this Definition has FlashInfer-Bench's older form; today the key is 'op_type'",
                   "kevo import flashinfer DATA_SET -o FOLDER writes it as a task");
    }
    task_.op_type = reader_.text("op_type", {.def = "", .doc = "kind of operation, for example gemm"});
    task_.description =
        reader_.text("description", {.def = "", .doc = "description, shown to people and to operators"});
    task_.tags = reader_.texts("tags", {.doc = "keywords for finding the task"}, std::vector<std::string>{});
    for (const std::string key : {"check", "rng_seed"}) {
      if (reader_.has(key)) not_supported_yet(reader_, key);
    }
    decode_definitions();
    const bool computes = says_what_is_computed();
    if (computes) {
      require_whole();
      task_.axes = decode_axes(reader_);
      task_.inputs = decode_tensors(reader_, task_, "inputs");
      task_.outputs = decode_tensors(reader_, task_, "outputs");
      check_names(reader_, task_);
    }
    decode_constraints();
    for (const auto& [name, made] : decode_generators(reader_, task_)) {
      for (auto& input : task_.inputs) {
        if (input.name == name) input.generate = made;
      }
      context_.generated.insert(name);
    }
    if (computes) decode_reference();
    decode_input_function();
    decode_tolerance();
    decode_cost();
    if (computes) decode_workloads();
    decode_seeds();
    decode_baselines();
    require_definitions();
    reader_.finish();
    return std::move(task_);
  }

 private:
  /// A task that a program of the user's judges (the command backend) may leave out, together, what kevo
  /// would need to run and check candidates itself; the other backends refuse such a task.
  bool says_what_is_computed() {
    bool any = !traces_.empty();
    for (const std::string key : computation) {
      const settings_node* given = reader_.raw().find(key);
      any = any || (given != nullptr && !is_empty(*given));
    }
    if (!any) {
      for (const std::string key : computation) reader_.raw(key);
    }
    return any;
  }

  /// One of those keys alone is a slip.
  void require_whole() {
    for (const std::string key : {"axes", "inputs", "outputs", "reference"}) {
      if (reader_.has(key)) continue;
      try {
        reader_.require(key);
      } catch (const error& e) {
        if (!e.hint().empty()) throw;
        throw error(e.code(), e.message(), e.place(),
                    "a task for the command backend leaves out axes, inputs, outputs, reference and "
                    "workloads together; every other task needs all of them");
      }
    }
  }

  void decode_definitions() {
    const settings_node* given = reader_.raw("define", "values of macros in the sources that the task names",
                                             "map of numbers or texts");
    if (given == nullptr || given->type == settings_node::kind::null) return;
    if (!given->is_map())
      reader_.fail("define", "expected a map, found " + describe(*given), "write define: {NAME: 1}");
    for (const auto& entry : given->entries) {
      check_identifier(entry.key, entry.value.place, "a macro");
      const std::string& text = entry.value.text;
      const bool one_line = entry.value.is_scalar() && text.find_first_of("\r\n\\") == std::string::npos;
      const bool comment = text.find("//") != std::string::npos || text.find("/*") != std::string::npos;
      if (text.empty() || !one_line || comment)
        throw error(error_code::input,
                    "the value of a macro must be a number or a text of one line without comments",
                    entry.value.place);
      definitions_[entry.key] = text;
    }
  }

  /// A name that no source defines is a slip.
  void require_definitions() {
    for (const auto& [name, value] : definitions_) {
      if (!defined_.contains(name))
        reader_.fail("define", "no source of the task contains a line '#define " + name + " VALUE'",
                     "write the line with the value for tasks that do not set it");
    }
  }

  void decode_constraints() {
    const settings_node* given = reader_.raw(
        "constraints", "conditions on the axes that each workload must fulfil", "list of expressions");
    if (given == nullptr || given->type == settings_node::kind::null) return;
    if (!given->is_list()) reader_.fail("constraints", "expected a list, found " + describe(*given));
    for (const auto& item : given->items) {
      try {
        task_.constraints.push_back(decode_expression(item, task_.axes));
        context_.places.constraints.push_back(item.place);
      } catch (const error&) {
        // FlashInfer's are Python and may speak of contents ("len == indptr[-1].item()"): carried, not
        // checked.
        if (!pointers_ || item.type != settings_node::kind::text) throw;
        std::string& carried = task_.extra["constraints"];
        carried += (carried.empty() ? "" : "\n") + item.text;
      }
    }
  }

  void decode_reference() {
    reader_.require("reference");
    if (const auto* text = reader_.raw().find("reference"); text->type == settings_node::kind::text) {
      reader_.raw("reference", "reference implementation: {language, file} or Python source text",
                  "map or text");
      if (text->text.find("def run") == std::string::npos) {
        reader_.fail(
            "reference", "a Python reference must define 'run'",
            "define 'run' in the text, or name a C++ file with {language: cpp, file: reference.cpp}");
      }
      task_.reference = reference_source{"python", program_of("python", text->text)};
      return;
    }
    settings one =
        reader_.child("reference", "reference implementation: {language, file} or Python source text");
    const auto language = one.text(
        "language", {.def = "cpp", .doc = "language of the reference", .one_of = {"cpp", "cuda", "python"}});
    task_.reference = reference_source{language, read_source(one, language)};
    if (language == "python") decode_python_reference(one);
  }

  /// A function of the reference's text that makes inputs: SOL-ExecBench's.
  void decode_input_function() {
    const auto given = reader_.optional<std::string>(
        "custom_inputs_entrypoint",
        {.doc = "language python: function of the reference that makes inputs of type custom"});
    if (!given) return;
    const std::string& name = *given;
    check_identifier(name, reader_.place("custom_inputs_entrypoint"), "a function");
    if (!task_.reference || task_.reference->language != "python")
      reader_.fail("custom_inputs_entrypoint", "only a reference in Python can make inputs");
    auto& reference = *task_.reference;
    if (reference.source.text().find("def " + name) == std::string_view::npos)
      reader_.fail("custom_inputs_entrypoint", "the reference does not define '" + name + "'");
    // The name belongs to what the content id of the task is made of.
    if (reference.form.empty()) reference.form = "function", reference.entry = "run";
    json::object init = reference.init.empty() ? json::object() : json::parse(reference.init).as_object();
    init["custom_inputs_entrypoint"] = name;
    reference.init = json::serialize(init);
    context_.makes_inputs = true;
  }

  void decode_python_reference(settings& one) {
    auto& reference = *task_.reference;
    reference.form =
        one.text("form", {.def = "module",
                          .doc = "language python: module (a class; an instance of it is called) or function",
                          .one_of = {"module", "function"}});
    const bool module = reference.form == "module";
    reference.entry = one.text("entry", {.def = module ? "Model" : "run",
                                         .doc = "language python: name of the class or the function"});
    check_entry(reference.entry, one.place("entry"));
    const auto precision =
        one.text("precision",
                 {.def = "float64",
                  .doc = "form function: in which types the reference computes; task: those of the inputs",
                  .one_of = {"float64", "task"}});
    std::string calls;
    if (const auto* given = one.raw("calls", "form function: how the function is called", "list");
        given != nullptr && given->type != settings_node::kind::null) {
      if (module) one.fail("calls", "only a function is called in a way of its own", "write form: function");
      calls = decode_calls(*given, task_);
    }
    const auto imports = decode_imports(one, module);
    if (!calls.empty() || precision == "task" || !imports.empty())
      reference.init = fmt::format(R"({{"args":[],"kwargs":{{}},"calls":{},"precision":"{}"{}}})",
                                   calls.empty() ? "[]" : calls, precision, imports);
    const auto constructor = decode_constructor(one);
    if (constructor.empty()) return;
    const auto* const key = one.has("init") ? "init" : "pretrained";
    if (!module) one.fail(key, "a function has no constructor", "write form: module");
    if (precision == "task")
      one.fail("precision", "a module with arguments of its constructor computes in float64", "leave it out");
    reference.init = constructor;
  }

  // As a member of the JSON object `init`; nothing if there are none.
  static std::string decode_imports(settings& one, bool module) {
    const auto imports = one.texts(
        "imports",
        {.doc = "form function: import statements whose names the reference and every program find, as if "
                "they stood at the beginning of its file; a module that is not there is left out"},
        std::vector<std::string>{});
    if (imports.empty()) return {};
    if (module) one.fail("imports", "only the programs of a function find imports", "write form: function");
    for (const auto& text : imports) {
      if ((!text.starts_with("import ") && !text.starts_with("from ")) ||
          text.find_first_of("\n;") != std::string::npos)
        one.fail("imports", "'" + text + "' is not one import statement", "for example, [import torch]");
    }
    return ",\"imports\":" + json::serialize(json::value_from(imports));
  }

  // A name, or names with dots between them: a function of a class.
  static void check_entry(const std::string& entry, const error_place& place) {
    std::string_view rest = entry;
    for (;;) {
      const auto dot = rest.find('.');
      check_identifier(std::string(rest.substr(0, dot)), place, "an entry");
      if (dot == std::string_view::npos) return;
      rest.remove_prefix(dot + 1);
    }
  }

  program read_source(settings& one, const std::string& language) {
    const auto file = one.text("file", {.doc = "source file, relative to the task file"});
    return named_source(file, language, one.place("file"));
  }

  program named_source(const std::string& file, const std::string& language, const error_place& named) {
    program source =
        set_definitions(read_(file, language, named), definitions_, defined_, reader_.place("define"));
    task_.source_files.emplace(to_string(id_of(source)), file);
    return source;
  }

  void decode_tolerance() {
    const bool given = reader_.has("tolerance");
    task_.tolerances = decode_tolerances(reader_, task_);
    if (given) return;
    tolerance usual;
    if (pointers_) usual.max_atol = usual.max_rtol = 1e-2;  // FlashInfer-Bench's own default
    task_.tolerances[""] = usual;
    for (const auto& output : task_.outputs) {
      if (!is_exact(*find_dtype(output.dtype))) continue;
      task_.tolerances[output.name].rule = "exact";
    }
  }

  void decode_cost() {
    settings cost =
        reader_.child_or_empty("cost", "minimum work of any implementation, as expressions of the axes");
    const auto one = [&](const char* key, const char* doc, std::optional<expression>& to) {
      const settings_node* node = cost.raw(key, doc, "expression");
      if (node == nullptr || node->type == settings_node::kind::null) return;
      to = decode_expression(*node, task_.axes);
      context_.places.costs.emplace_back(*to, node->place);
    };
    one("flops", "operations", task_.cost.flops);
    one("bytes", "minimum memory traffic in bytes", task_.cost.bytes);
    one("min_flops", "minimum number of arithmetic operations over all algorithms", task_.cost.min_flops);
  }

  void decode_workloads() {
    auto given = reader_.children("workloads", false, "concrete problem sizes");
    for (auto& one : given) add_workload(one);
    for (const auto& trace : traces_) {
      settings reader(trace);
      if (!reader.has("workload")) {  // a bare workload
        add_workload(reader);
        reader.finish();
        continue;
      }
      const auto definition = reader.text("definition", {.doc = "name of the task"});
      if (definition != task_.name) continue;  // of another task in the same file
      settings one = reader.child("workload");
      for (const char* key : {"solution", "evaluation"}) reader.raw(key);
      if (trace.find("evaluation") != nullptr && !uuids_.empty() && one.raw().find("uuid") != nullptr &&
          uuids_.contains(one.raw().find("uuid")->text)) {
        continue;  // traces of several solutions repeat their workload
      }
      add_workload(one);
      reader.finish();
    }
    if (task_.workloads.empty()) {
      reader_.fail("workloads", "a task needs at least one workload",
                   pointers_
                       ? "put the workload traces of FlashInfer-Bench into " +
                             std::filesystem::path(task_.file).replace_extension(".jsonl").filename().string()
                       : "write workloads: [{uuid: small, axes: {...}}]");
    }
    const bool visible = std::any_of(task_.workloads.begin(), task_.workloads.end(),
                                     [](const workload& w) { return !w.hidden; });
    if (!visible)
      reader_.fail("workloads", "all workloads are hidden, so none can be timed",
                   "remove 'hidden' from at least one workload");
  }

  void add_workload(settings& one) {
    workload made = decode_workload(one, task_, context_);
    if (!uuids_.insert(made.uuid).second)
      one.fail("uuid", "duplicate name '" + detail::shown(made.uuid) + "'",
               "give each workload a uuid of its own");
    task_.workloads.push_back(std::move(made));
  }

  program decode_program(const settings_node& node, const std::string& what) {
    if (node.type == settings_node::kind::text) return named_source(node.text, {}, node.place);
    if (!node.is_map()) {
      throw error(error_code::input, "expected a file, found " + describe(node), node.place,
                  "write " + what + ": [seed.cpp]");
    }
    settings one(node);
    const auto language =
        one.text("language", {.def = "", .doc = "language, if the file extension does not determine it"});
    program result = read_source(one, language);
    one.finish();
    return result;
  }

  void decode_seeds() {
    const settings_node* given =
        reader_.raw("seeds", "programs from which the search starts", "list of files");
    if (given == nullptr || given->type == settings_node::kind::null) return;
    if (!given->is_list())
      reader_.fail("seeds", "expected a list, found " + describe(*given), "write [seed.cpp]");
    for (const auto& item : given->items) task_.seeds.push_back(decode_program(item, "seeds"));
  }

  void decode_baselines() {
    for (auto& one : reader_.children(
             "baselines", false, "trusted programs to compare with; speedups are relative to the first")) {
      baseline made;
      made.name = one.text("name", {.doc = "unique name of the baseline"});
      if (made.name.empty()) one.fail("name", "a baseline needs a name", "write name: NAME");
      for (const auto& other : task_.baselines) {
        if (other.name == made.name)
          one.fail("name", "duplicate name '" + detail::shown(made.name) + "'",
                   "give each baseline a name of its own");
      }
      const auto language =
          one.text("language", {.def = "", .doc = "language, if the file extension does not determine it"});
      made.link = one.texts("link", {.doc = "libraries to link with, without lib and extension"},
                            std::vector<std::string>{});
      for (const auto& library : made.link) {
        if (library.empty() || library.front() == '-' || library.find_first_of("/ \t") != std::string::npos) {
          one.fail("link", "'" + detail::shown(library) + "' is not a valid name of a library",
                   "for example, write openblas for libopenblas.so");
        }
      }
      made.optional = one.boolean(
          "optional", {.def = false, .doc = "whether the baseline is left out where it does not build"});
      const bool of_torch = task_.reference && !task_.reference->form.empty();
      if (one.boolean("compile", {.def = false,
                                  .doc = "PyTorch on a GPU: whether torch.compile compiles the program"})) {
        if (!of_torch)
          one.fail("compile", "torch.compile applies only to PyTorch programs",
                   "remove compile, or name a program in Python");
        made.link.emplace_back(torch::compiler_of_torch);
      }
      // Of PyTorch: as it is, or compiled.
      made.source = of_torch && !one.has("file") ? task_.reference->source : read_source(one, language);
      task_.baselines.push_back(std::move(made));
    }
    if (!task_.baselines.empty() && task_.baselines.front().optional) {
      reader_.fail("baselines", "the first baseline must not be optional",
                   "speedups are relative to the first baseline");
    }
    // A module of PyTorch is compared with its reference, run as PyTorch runs it.
    if (task_.baselines.empty() && task_.reference && !task_.reference->form.empty())
      task_.baselines.push_back({"eager", task_.reference->source, {}, false});
    if (task_.baselines.empty() && !task_.seeds.empty())
      task_.baselines.push_back({"seed", task_.seeds.front(), {}, false});
    // The same of a definition of FlashInfer-Bench, whose reference is a text.
    if (task_.baselines.empty() && task_.reference && task_.reference->language == "python")
      task_.baselines.push_back({"eager", task_.reference->source, {}, false});
  }

  settings reader_;
  const source_reader& read_;
  const std::vector<settings_node>& traces_;
  bool pointers_;  ///< from JSON: FlashInfer-Bench's defaults hold
  task task_;
  std::set<std::string> uuids_;
  std::map<std::string, std::string> definitions_;  ///< values of macros by name
  std::set<std::string> defined_;                   ///< the macros that sources contain
  workload_context context_;
};

}  // namespace

task decode_task(const settings_node& root, const source_reader& read,
                 const std::vector<settings_node>& traces, const contents_reader& contents) {
  return decoder(root, read, traces, contents).decode();
}

}  // namespace kevo
