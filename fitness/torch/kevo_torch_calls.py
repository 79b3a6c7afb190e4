# How a function is called that takes more than the inputs in their order: options, lists, constants, tensors that it writes to. The task
# says so in `calls` (docs/torch.md); a call is made of the same description for the reference and for candidates.


# A matrix whose diagonal is larger than the sum of the rest of its row: it is not singular; if it is symmetric, it is positive definite.
def dominant(torch, value, symmetric):
    if symmetric:
        value = (value + value.mT) / 2
    return value + torch.diag_embed(value.abs().sum(-1) + 1)


# The elements of a constant, from their bytes in base64.
def constant_of(torch, given):
    import base64
    data = bytearray(base64.b64decode(given["base64"]))
    dtype = getattr(torch, given["dtype"])
    return torch.frombuffer(data, dtype=dtype).view(given["shape"]) if data else torch.empty(given["shape"], dtype=dtype)


class calling:
    def __init__(self, torch, function, calls, inputs, outputs):
        self.torch, self.function = torch, function
        self.names = {one["name"]: place for place, one in enumerate(inputs)}
        self.outputs = [(one["name"], getattr(torch, one["dtype"]), one["rank"]) for one in outputs]
        self.constants, self.written = {}, []
        self.calls = [([self.argument(one) for one in call.get("args", [])],
                       {name: self.argument(one) for name, one in call.get("kwargs", {}).items()}, call["results"]) for call in calls]

    # What makes an argument of the inputs of a call.
    def argument(self, given):
        torch = self.torch
        if not isinstance(given, dict):
            return lambda inputs: given
        (kind, inner), = given.items()
        if kind == "input":
            place = self.names[inner]
            return lambda inputs: inputs[place]
        if kind in ("list", "tuple"):
            make, parts = list if kind == "list" else tuple, [self.argument(one) for one in inner]
            return lambda inputs: make(part(inputs) for part in parts)
        if kind == "map":
            parts = {name: self.argument(one) for name, one in inner.items()}
            return lambda inputs: {name: part(inputs) for name, part in parts.items()}
        if kind == "dtype":
            dtype = getattr(torch, inner)
            return lambda inputs: dtype
        if kind == "value":
            number = float(inner)
            return lambda inputs: number
        if kind == "device":
            return self.device
        if kind == "tensor":
            value = constant_of(torch, inner)
            return lambda inputs: self.constant(id(value), value, inputs)
        if kind == "permute":
            part, order = self.argument(inner[0]), list(inner[1])
            return lambda inputs: part(inputs).permute(order)
        part = self.argument(inner)
        if kind == "complex":
            return lambda inputs: torch.view_as_complex(part(inputs))
        if kind in ("dominant", "definite"):
            return lambda inputs: dominant(torch, part(inputs), kind == "definite")
        if kind == "written":
            return lambda inputs: self.to_write(part(inputs))
        raise ValueError(f"calls: '{kind}' is not known")

    def device(self, inputs):
        return next((one.device for one in inputs if self.torch.is_tensor(one)), self.torch.device("cpu"))

    # A constant where the inputs are; in float64 where these are converted to it.
    def constant(self, key, value, inputs):
        torch, device = self.torch, self.device(inputs)
        wide = value.is_floating_point() and torch.get_default_dtype() == torch.float64
        key = key, str(device), wide
        if key not in self.constants:
            self.constants[key] = value.to(device=device, dtype=torch.float64 if wide else value.dtype)
        return self.constants[key]

    # The function may write to what it is given, and the inputs stay as they are.
    def to_write(self, value):
        value = value.clone(memory_format=self.torch.preserve_format)
        self.written.append(value)
        return value

    # Tensors and numbers in what a function returns, in their order.
    def leaves(self, value, found, inputs):
        torch = self.torch
        if torch.is_tensor(value):
            found.append(torch.view_as_real(value.resolve_conj()) if value.is_complex() else value)
        elif isinstance(value, dict):
            for one in value.values():
                self.leaves(one, found, inputs)
        elif isinstance(value, (list, tuple)):
            for one in value:
                self.leaves(one, found, inputs)
        elif isinstance(value, (bool, int, float)):
            dtype = torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.float64
            found.append(torch.tensor(value, dtype=dtype, device=self.device(inputs)))
        return found

    # All that the call number `number` gives: what is returned, then what is written to.
    def run(self, number, inputs):
        args, kwargs, results = self.calls[number]
        self.written.clear()
        result = self.function(*[one(inputs) for one in args], **{name: one(inputs) for name, one in kwargs.items()})
        found = self.leaves(result, [], inputs)
        return found + [one.detach() for one in self.written], results

    def __call__(self, *inputs):
        number = inputs[self.names["call"]] if len(self.calls) > 1 else 0
        found, results = self.run(number, inputs)
        if len(found) != len(results):
            raise ValueError(f"it gave {len(found)} results; a call like this one gives {len(results)}")
        made = {name: one for name, one in zip(results, found) if name is not None}
        # An output that the call does not have is a zero.
        return [made[name] if name in made else self.torch.zeros((1,) * rank, dtype=dtype, device=self.device(inputs))
                for name, dtype, rank in self.outputs]


