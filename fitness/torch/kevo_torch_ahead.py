# The building pass: a program for a GPU is executed once in a process without one, before the device is asked for, so that the process of
# kevo_torch_compile.py builds the extensions that it asks for. A later process of the program is then answered from memory. Nothing else
# comes of it: a program that asks for other extensions here has to wait for its own later.


# In place of an extension that is built and not loaded: whatever is taken out of it can be kept, and calling it ends the pass.
class unloaded_extension:
    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return unloaded_extension(name)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("extensions are built ahead and not called")


# Whether a build that failed is what ended the program, in its own words or in those of the program (`raise ... from`).
def is_failed_build(error):
    for _ in range(8):
        if error is None or isinstance(error, extension_failure):
            break
        error = error.__cause__
    return error is not None


# Gives the error by which a build that failed ended the program; None where there was none. Any other error may come from what is pretended
# here, and says nothing.
def build_ahead(torch, job, ask, names):
    pretend_a_device(torch, job["device_facts"])
    requests = provide_extensions(torch, ask, job["files"], unloaded_extension)
    try:
        module = execute(job["files"], "kevo_program", names)
        # Extensions of a constructor. On the device "meta" its parameters take neither time nor memory.
        if requests.count == 0 and job["form"] == "module" and "pretrained" not in job["init"]:
            with torch.device("meta"):
                build(torch, job, module)
    except BaseException as error:
        return error if is_failed_build(error) else None
    return None
