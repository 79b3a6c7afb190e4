#include "fitness/attack/instantiate.hpp"

#include <algorithm>
#include <sstream>

#include "fitness/attack/signature_text.hpp"
#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/oracle/element_type.hpp"

namespace kevo {
namespace {

constexpr const char* marker = "// insert: honest";

bool has(const std::vector<tensor>& tensors, bool (*fits)(const tensor&)) {
  return std::any_of(tensors.begin(), tensors.end(), [&](const tensor& x) { return !x.scalar && fits(x); });
}
bool any(const tensor&) {
  return true;
}
bool native_float(const tensor& x) {
  return x.dtype == "float32" || x.dtype == "float64";
}
bool single(const tensor& x) {
  return x.dtype == "float32";
}
bool whole(const tensor& x) {
  return element_type_of(x).kind == element_kind::integer;
}

bool offers(const task& t, const std::string& need) {
  if (need == "axis")
    return std::any_of(t.axes.begin(), t.axes.end(), [](const axis& a) { return !a.value; });
  if (need == "input") return has(t.inputs, any);
  if (need == "float input") return has(t.inputs, native_float);
  if (need == "float output") return has(t.outputs, native_float);
  if (need == "float32 input") return has(t.inputs, single);
  if (need == "float32 output") return has(t.outputs, single);
  return need == "integer input" && has(t.inputs, whole);
}

std::string missing(const std::string& need) {
  return need == "axis" ? "the task has no variable axis" : "the task has no " + need;
}

// Whether an honest program can stand inside an exploit of this form.
std::string misfit(exploit_form form, const program& honest) {
  const bool cuda = honest.language == "cuda";
  if (form == exploit_form::cpp)
    return honest.language == "cpp" ? ""
                                    : "the honest program is written in " + honest.language + ", not in cpp";
  if (!cuda) return "the honest program is written in " + honest.language + ", not in cuda";
  const bool hosted = cuda::is_hosted(honest);
  if (form == exploit_form::hosted && !hosted)
    return "the honest program has launch lines; this exploit needs one with its own host code (--honest "
           "FILE)";
  if (form == exploit_form::declared && hosted)
    return "the honest program has its own host code; this exploit needs one with launch lines (--honest "
           "FILE)";
  return {};
}

std::string inserted(const task& t, exploit_form form, const program& honest) {
  std::string text(honest.text());
  if (!text.ends_with('\n')) text += '\n';
  if (form == exploit_form::declared) return text;
  return "#define run honest_run\n" + text + "#undef run\n" + honest_definition(t, form);
}

}  // namespace

attack_program instantiate(const exploit& attack, const task& t, const program& honest) {
  for (const auto& need : attack.needs) {
    if (!offers(t, need)) return {{}, missing(need)};
  }
  const bool wraps = attack.text.find(marker) != std::string::npos;
  if (wraps) {
    if (auto why = misfit(attack.form, honest); !why.empty()) return {{}, std::move(why)};
  }
  std::string text = attack_prologue(t, attack.form);
  std::istringstream lines(attack.text);
  for (std::string line; std::getline(lines, line);) {
    if (line == marker) {
      text += inserted(t, attack.form, honest);
    } else if (attack.form == exploit_form::declared) {
      text += expanded_line(t, line);
    } else {
      text += line + '\n';
    }
  }
  text += attack_epilogue(t, attack.form);
  program made{attack.form == exploit_form::cpp ? "cpp" : "cuda", {}};
  made.files.push_back({attack.form == exploit_form::cpp ? "kernel.cpp" : "kernel.cu", std::move(text)});
  if (wraps) made.files.insert(made.files.end(), honest.files.begin() + 1, honest.files.end());
  return {std::move(made), {}};
}

}  // namespace kevo
