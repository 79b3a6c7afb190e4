// kevo::error as the Python exception kevo.Error, and back.

#include "python/src/errors.hpp"

#include <atomic>
#include <unistd.h>

#include <kevo/error.hpp>

#include "python/src/bind.hpp"
#include "python/src/interpreter.hpp"
#include "src/base/process/spawn.hpp"

namespace kevo::python {
namespace {

// Made once for the life of the process: translators are called until its end.
py::handle& error_type() {
  static py::handle type;
  return type;
}

// The process that asked first; 0 before.
std::atomic<pid_t> first_process{0};

py::object text_or_none(const std::string& text) {
  if (text.empty()) return py::none();
  return py::str(text);
}

error_code code_named(const std::string& name) {
  for (const auto code :
       {error_code::usage, error_code::input, error_code::environment, error_code::interrupted}) {
    if (name == to_string(code)) return code;
  }
  return error_code::internal;
}

}  // namespace

void raise_in_python(const error& wrong) {
  py::object raised = error_type()(wrong.what());
  raised.attr("code") = to_string(wrong.code());
  raised.attr("message") = wrong.message();
  raised.attr("file") = text_or_none(wrong.place().file);
  raised.attr("line") = wrong.place().line > 0 ? py::object(py::int_(wrong.place().line)) : py::none();
  raised.attr("key") = text_or_none(wrong.place().key);
  raised.attr("hint") = text_or_none(wrong.hint());
  PyErr_SetObject(error_type().ptr(), raised.ptr());
}

std::optional<error> kevo_error_in(const py::error_already_set& raised) {
  if (!raised.matches(error_type())) return std::nullopt;
  const py::object value = raised.value();
  if (!py::hasattr(value, "code")) return std::nullopt;
  return error(code_named(py::str(value.attr("code"))), py::str(value.attr("message")));
}

std::string line_of(const py::error_already_set& raised) {
  std::string name = py::str(raised.type().attr("__name__"));
  std::string text = py::str(raised.value());
  return text.empty() ? name : name + ": " + text;
}

std::string traceback_of(const py::error_already_set& raised) {
  const auto lines = py::module_::import("traceback")
                         .attr("format_exception")(raised.type(), raised.value(),
                                                   raised.trace() ? raised.trace() : py::none());
  return py::str(py::str("").attr("join")(lines));
}

void require_own_process() {
  detail::require_ends();
  pid_t known = 0;
  if (first_process.compare_exchange_strong(known, ::getpid()) || known == ::getpid()) return;
  throw error(error_code::usage, "this process was forked from one in which kevo had begun to evaluate", {},
              "start processes with multiprocessing's method 'spawn' or 'forkserver', or evaluate only after "
              "the fork");
}

void bind_errors(py::module_& module) {
  error_type() = py::exception<error>(module, "Error", PyExc_RuntimeError).release();
  error_type().attr("__doc__") =
      "A wrong argument, a wrong file or a fault of the machine. A candidate that fails is never an "
      "exception: it has an "
      "outcome. `code` is one of 'usage', 'input', 'environment', 'interrupted', 'internal'; `message`, "
      "`file`, `line`, "
      "`key` and `hint` say what and where, or are None.";
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const error& wrong) {
      raise_in_python(wrong);
    }
  });
}

}  // namespace kevo::python
