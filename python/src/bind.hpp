#pragma once
// The parts of the module `kevo._kevo`, each bound by a file of its own. The Python package (python/kevo)
// gives them their public names; their signatures and docstrings for type checkers are in
// python/kevo/_kevo.pyi.

#include <pybind11/pybind11.h>

namespace kevo::python {

void bind_errors(pybind11::module_& module);
void bind_value_types(pybind11::module_& module);
void bind_evaluators(pybind11::module_& module);
void bind_rewards(pybind11::module_& module);
void bind_views(pybind11::module_& module);
void bind_search(pybind11::module_& module);
void bind_session(pybind11::module_& module);
void bind_journal(pybind11::module_& module);

}  // namespace kevo::python
