# Triton's interpreter has no functions of CUDA's device library (triton.language.extra.libdevice). Here PyTorch computes them on the CPU, for
# the interpreter's arrays. The results have the type of the arguments, as on a GPU; their last bits may differ from a GPU's.


def library_functions(torch):
    same = ("tanh rsqrt erf erfc erfinv exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh asinh acosh atanh sqrt floor "
            "ceil trunc abs lgamma sigmoid").split()
    found = {name: getattr(torch, name) for name in same}

    def away_from_zero(x):
        return torch.trunc(x + torch.copysign(torch.full_like(x, 0.5), x))

    def truth(function):
        return lambda x: function(x).to(torch.int32)

    found.update(
        fabs=torch.abs, rint=torch.round, nearbyint=torch.round, round=away_from_zero, cbrt=lambda x: torch.copysign(x.abs() ** (1 / 3), x),
        llrint=lambda x: torch.round(x).to(torch.int64), llround=lambda x: away_from_zero(x).to(torch.int64),
        float2int_rn=lambda x: torch.round(x).to(torch.int32), float2int_rz=lambda x: torch.trunc(x).to(torch.int32),
        pow=torch.pow, atan2=torch.atan2, fmod=torch.fmod, hypot=torch.hypot, copysign=torch.copysign, fma=lambda x, y, z: x * y + z,
        fast_expf=torch.exp, fast_logf=torch.log, fast_sinf=torch.sin, fast_cosf=torch.cos, fast_powf=torch.pow, fast_tanhf=torch.tanh,
        fast_dividef=torch.div, div_rn=torch.div, exp10=lambda x: 10.0 ** x, rcp_rn=torch.reciprocal, isnan=truth(torch.isnan),
        isinf=truth(torch.isinf), isfinited=truth(torch.isfinite), finitef=truth(torch.isfinite), signbit=truth(torch.signbit))
    return found


def pretend_libdevice(torch):
    try:
        from triton import language as tl
        from triton.language.extra import libdevice
        from triton.language.extra.cuda import libdevice as of_cuda
        from triton.runtime import interpreter
    except Exception:
        return  # another version of Triton has them elsewhere
    kinds = {torch.float64: tl.float64, torch.float32: tl.float32, torch.int32: tl.int32, torch.int64: tl.int64}

    def array_of(value):
        if not isinstance(value, tl.tensor):
            return torch.tensor([float(getattr(value, "value", value))]), False, ()
        if value.dtype.scalar in (tl.float16, tl.bfloat16):  # an error on a GPU, too
            raise TypeError(f"libdevice has no functions of {value.dtype.scalar}")
        return torch.from_numpy(value.handle.data), True, tuple(int(getattr(one, "value", one)) for one in value.shape)

    def made(name, work):
        def computed(*args, _semantic=None, **_):
            parts = [array_of(one) for one in args]
            kind = torch.float64 if any(is_tensor and part.dtype == torch.float64 for part, is_tensor, _ in parts) else torch.float32
            result = work(*[part.to(kind) for part, _, _ in parts])
            element = kinds[result.dtype]
            shape = torch.broadcast_shapes(*[shape for _, _, shape in parts])
            handle = interpreter.TensorHandle(result.numpy(), element)
            return tl.tensor(handle, tl.block_type(element, list(shape)) if shape else element)

        computed.__name__ = name
        return computed

    for name, work in library_functions(torch).items():
        for module in (libdevice, of_cuda):
            if hasattr(module, name):
                setattr(module, name, made(name, work))


# A number with a point is a float32 in a kernel, as on a GPU: the interpreter leaves it as Python has it.
def mend_arguments():
    try:
        import numpy
        from triton import language as tl
        from triton.runtime import interpreter
        plain = interpreter._implicit_cvt
    except Exception:
        return

    def converted(value):
        if type(value) is float:
            return tl.tensor(interpreter.TensorHandle(numpy.array([value], dtype=numpy.float32), tl.float32), tl.float32)
        return plain(value)

    interpreter._implicit_cvt = converted


# An annotation in quotes ("tl.constexpr") reaches the interpreter with the quotes, so that it takes a constant for a number of the kernel.
# A grid may be a list on a GPU, but not in the interpreter.
def mend_constants():
    try:
        from triton.runtime import interpreter
        begin = interpreter.GridExecutor.__init__
    except Exception:
        return

    def with_constants(self, fn, arg_names, *args, **kwargs):
        begin(self, fn, arg_names, *args, **kwargs)
        self.constexprs = [name for name in arg_names if name in self.constexprs or "constexpr" in str(fn.__annotations__.get(name))]
        grid = self.grid
        self.grid = (lambda given: tuple(grid(given))) if callable(grid) else tuple(grid) if isinstance(grid, list) else grid

    interpreter.GridExecutor.__init__ = with_constants


# "and" and "or" of blocks combine their elements on a GPU. In the interpreter a block is always true, so that "a and b" is b.
def mend_logic():
    try:
        import ast
        from triton import language as tl
        from triton.runtime import interpreter
        transformer, semantic = interpreter.ASTTransformer, interpreter.interpreter_semantic
        combined = {True: semantic.logical_and, False: semantic.logical_or}
    except Exception:
        return

    # What is no tensor is evaluated as in Python, and ends the evaluation where it decides the result.
    def logical(is_and, *parts):
        found = value = None
        for part in parts:
            value = part()
            if isinstance(value, tl.tensor):
                found = value if found is None else combined[is_and](found, value)
            elif bool(value) != is_and:
                return value
        return value if found is None else found

    def visit(self, node):
        self.generic_visit(node)
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        parts = [ast.Lambda(args=nothing, body=one) for one in node.values]
        return ast.Call(func=ast.Name(id="kevo_logical", ctx=ast.Load()), args=[ast.Constant(value=isinstance(node.op, ast.And)), *parts],
                        keywords=[])

    interpreter.kevo_logical, transformer.visit_BoolOp = logical, visit
