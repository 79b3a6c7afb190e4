# How the files of a program are executed: they exist in memory alone.
import os
import sys


# In Triton's interpreter the numbers of a kernel are arrays of one element. NumPy 2.4 does not take such an array for the bound of a loop.
def mend_interpreter():
    try:
        from triton.runtime import interpreter
        make = interpreter._patch_lang_tensor
    except Exception:
        return  # the program says what is wrong when it imports Triton

    def whole_number(tensor):
        return int(tensor.handle.data.item())

    def with_whole_numbers(tensor, *scope):
        make(tensor, *scope)
        if scope:
            scope[0].set_attr(tensor, "__index__", whole_number)
        else:
            tensor.__index__ = whole_number

    interpreter._patch_lang_tensor = with_whole_numbers


# What a program finds imported (reference.imports): where it is executed as one file with a test, that test's imports. One of a module that
# is not here fails where the program uses its name.
def import_for(module, statements):
    for one in statements:
        try:
            exec(one, module.__dict__)
        except ImportError:
            pass


# The program's files exist in memory alone: what asks for their text (inspect, Triton) finds it in linecache.
def execute(files, name, names, imports=()):
    import importlib.abc
    import importlib.machinery
    import linecache
    import types
    texts = {"/kevo/program/" + one["path"]: one["text"] for one in files}
    for path, text in texts.items():
        linecache.cache[path] = (len(text), None, text.splitlines(True), path)

    # Modules and packages of the program, also in folders of it that it has added to sys.path.
    class finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, wanted, path=None, target=None):
            for folder in path if path is not None else [*sys.path, "/kevo/program"]:
                place = os.path.join(str(folder), wanted.rpartition(".")[2])
                if place + ".py" in texts:
                    return importlib.machinery.ModuleSpec(wanted, self, origin=place + ".py")
                if place.startswith("/kevo/program/") and any(one.startswith(place + "/") for one in texts):
                    origin = place + "/__init__.py"
                    spec = importlib.machinery.ModuleSpec(wanted, self, origin=origin if origin in texts else None, is_package=True)
                    spec.submodule_search_locations.append(place)
                    return spec
            return None

        def exec_module(self, module):
            module.__file__ = module.__spec__.origin
            if module.__file__ is None:
                return  # a folder
            exec(compile(texts[module.__file__], module.__file__, "exec"), module.__dict__)

    if len(files) > 1:
        sys.meta_path.append(finder())
    if os.environ.get("TRITON_INTERPRET") and any("triton" in text for text in texts.values()):
        import torch
        mend_interpreter()
        mend_arguments()
        mend_constants()
        mend_logic()
        mend_order(texts.values())
        pretend_libdevice(torch)
        pretend_tuning()
        pretend_a_device(torch)
    names.update(texts)
    path = "/kevo/program/" + files[0]["path"]
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    import_for(module, imports)
    exec(compile(texts[path], path, "exec"), module.__dict__)
    return module
