// The compiled module of the Python package kevo.

#include <pybind11/pybind11.h>

#include <kevo/version.hpp>

#include "fitness/process/own_program.hpp"
#include "python/src/bind.hpp"
#include "python/src/interpreter.hpp"

PYBIND11_MODULE(_kevo, module) {
  module.doc() = "The compiled part of kevo. Its public names are in the package `kevo`.";
  module.attr("version") = std::to_string(KEVO_VERSION_MAJOR) + "." + std::to_string(KEVO_VERSION_MINOR) +
                           "." + std::to_string(KEVO_VERSION_PATCH);
  module.def("add_program_folder", &kevo::add_program_folder,
             "Adds a folder in which kevo's helper programs are looked for.");
  kevo::python::bind_errors(module);
  kevo::python::bind_value_types(module);
  kevo::python::bind_evaluators(module);
  kevo::python::bind_rewards(module);
  kevo::python::bind_views(module);
  kevo::python::bind_search(module);
  kevo::python::bind_session(module);
  kevo::python::bind_journal(module);
  pybind11::module_::import("atexit").attr("register")(
      pybind11::cpp_function(&kevo::python::end_calls_at_exit));
}
