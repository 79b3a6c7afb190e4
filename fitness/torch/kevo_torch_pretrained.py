# Models that a program asks of Hugging Face's transformers by name. The sandbox has no network and no file of weights: the task contains
# the configurations, and the weights are drawn under the seed of the evaluation, as those of every other module are.


# Imports what nearly every program imports that takes a model, in the process that forks: it takes a second or more. What went wrong is for
# the programs to say.
def warm_transformers():
    if warm_transformers.done:
        return
    import os
    import socket
    import tempfile
    warm_transformers.done = True
    socket.has_ipv6 = False  # urllib3 would ask for a socket to find out, which ends a process in the sandbox
    # Parts of PyTorch that transformers imports ask for the name of the user and for a folder, which they make unless it exists.
    os.environ.setdefault("USER", "kevo")
    tempfile.tempdir = tempfile.tempdir or "/tmp"
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/"
    try:
        import transformers
        from transformers import AutoModelForCausalLM, generation, modeling_utils  # noqa: F401
        transformers.logging.set_verbosity_error()
    except Exception as error:
        warm_transformers.failure = error
    finally:
        if folder is not None:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder


warm_transformers.done, warm_transformers.failure = False, None


# @param known the contents of config.json by the name of the model. From here on, `from_pretrained` of configurations and models gives
# what is in it, and other names are an error.
# @param state of the reference, names and tensors, where it replaces that of the program afterwards: a model that it contains gets its
# weights from there, which takes a fraction of the time of drawing billions of numbers.
def provide_pretrained(known, state=()):
    if warm_transformers.failure is not None:
        raise warm_transformers.failure
    import copy
    import torch
    import transformers
    from transformers.models.auto import auto_factory
    config_base, model_base = transformers.PretrainedConfig, transformers.PreTrainedModel
    of_the_hub = ("cache_dir", "force_download", "resume_download", "proxies", "token", "use_auth_token", "local_files_only", "revision",
                  "trust_remote_code", "subfolder", "_commit_hash", "code_revision", "gguf_file")

    def values_of(name):
        if str(name) not in known:
            there = ", ".join(sorted(known)) or "none"
            raise OSError(f"the task has no configuration of the model '{name}' (it has: {there})")
        return copy.deepcopy(known[str(name)])

    def config_dict(cls, name, **kwargs):
        return values_of(name), {key: value for key, value in kwargs.items() if key not in of_the_hub}

    def from_pretrained(cls, name, *args, config=None, **kwargs):
        values_of(name)
        if isinstance(config, config_base):
            config = copy.deepcopy(config)
        else:
            config = cls.config_class.from_pretrained(name if config is None else config)
        dtype = kwargs.get("dtype", kwargs.get("torch_dtype"))
        if dtype == "auto":
            dtype = config.dtype
        attention = {key: kwargs[key] for key in ("attn_implementation",) if key in kwargs}

        def make():
            return cls._from_config(copy.deepcopy(config), *args, dtype=dtype or torch.get_default_dtype(), **attention).eval()

        model = filled(torch, make, dict(state))
        if model is None:
            model = make()
            temper(torch, model)
        place = kwargs.get("device_map")
        return model.to(place) if isinstance(place, torch.device) or isinstance(place, str) and place != "auto" else model

    config_base.get_config_dict = classmethod(config_dict)
    model_base.from_pretrained = classmethod(from_pretrained)
    # What the classes for all models look for before they call the above.
    auto_factory.cached_file = auto_factory.find_adapter_config_file = lambda *_, **__: None


# What `make` makes, without weights of its own and with those of the only model in the state that has the same ones; nothing if there is
# no such model.
def filled(torch, make, state):
    from transformers import modeling_utils
    without_weights = getattr(modeling_utils, "no_init_weights", None)
    if not state or without_weights is None:
        return None
    with without_weights():
        model = make()
    model.tie_weights()
    own = model.state_dict()

    def same(prefix):
        others = {name: state.get(prefix + name) for name in own}
        return all(other is not None and other.shape == own[name].shape and other.dtype == own[name].dtype
                   for name, other in others.items())

    first = next(iter(own), "")
    places = [name[:len(name) - len(first)] for name in state if name.endswith(first)]
    places = [prefix for prefix in places if same(prefix)]
    if not own or len(places) != 1:
        return None
    done = set()
    with torch.no_grad():
        for name, value in own.items():
            if (value.data_ptr(), value.shape) not in done:  # tied weights have several names
                value.copy_(state[places[0] + name])
            done.add((value.data_ptr(), value.shape))
    return model


# GPT-Neo does not divide its scores by the square root of the size of a head. With weights as they are drawn, the largest score decides
# alone: the results of a model of 2.7 billion parameters in float32 differed from those in float64 by 55 times the tolerance. As the
# initialization of T5 does, which has no such division either, the weights of the queries are divided instead.
def temper(torch, model):
    with torch.no_grad():
        for module in model.modules():
            if type(module).__name__ == "GPTNeoSelfAttention":
                module.q_proj.weight.div_(module.head_dim ** 0.5)


# An argument of a constructor, in which {"pretrained_config": NAME, "values": {...}} is the configuration of that model with some values
# of its own.
def with_configs(value):
    if isinstance(value, list):
        return [with_configs(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "pretrained_config" not in value:
        return {key: with_configs(one) for key, one in value.items()}
    import transformers
    config = transformers.AutoConfig.from_pretrained(value["pretrained_config"])
    for key, one in value.get("values", {}).items():
        setattr(config, key, one)
    return config
