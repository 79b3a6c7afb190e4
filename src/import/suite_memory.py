# Keeps kernels in Triton's interpreter within their tensors, where it reads and writes any address: a wrong one would end the process, and
# with it what the other calls of the test have shown. Part of the script of suite_calls.py.


class guarded_memory:
    around = True  # what lies beyond a tensor: one of two values, so that a function that uses it gives two results
    fresh = True   # the same for what a new tensor contains before anything is written to it (torch.empty)
    reads = False  # whether a kernel has read beyond its tensors in this call
    strays = False  # or in any call
    computes = False  # whether the kernel makes addresses of numbers, which may be those of any tensor

    def __init__(self, torch, numpy):
        self.torch, self.numpy = torch, numpy
        self.know([])

    # The storages of these tensors, as sorted begins and ends.
    def know(self, tensors):
        ranges = set()
        for one in tensors:
            try:
                storage = one.untyped_storage()
                ranges.add((storage.data_ptr(), storage.data_ptr() + storage.nbytes()))
            except Exception:
                continue  # a tensor without a storage
        self.known = tuple(self.numpy.array(side, dtype=self.numpy.uint64) for side in zip((0, 0), *sorted(ranges)))

    def inside(self, addresses, size):
        begins, ends = self.known
        place = self.numpy.searchsorted(begins, addresses, "right") - 1
        return (place > 0) & (addresses <= self.numpy.take(ends, place) - self.numpy.uint64(size))

    # Whether all addresses lie in one tensor, which is the usual case and known faster.
    def together(self, addresses, size):
        begins, ends = self.known
        place = self.numpy.searchsorted(begins, addresses.min(), "right") - 1
        return bool(place > 0 and addresses.max() <= ends[place] - self.numpy.uint64(size))

    # Which of the addresses that are used do not lie in a tensor. If the kernel loads addresses from memory, all tensors that exist count:
    # otherwise a wrong address would often lie in a tensor that is not an argument.
    def outside(self, addresses, used, size):
        wrong = used & ~self.inside(addresses, size)
        if guarded_memory.computes and wrong.any():
            self.know([one for one in gc.get_objects() if issubclass(type(one), self.torch.Tensor)])
            wrong = used & ~self.inside(addresses, size)
        return wrong


def tensors_in(torch, value):
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in tensors_in(torch, part)]
    value = getattr(value, "base", value)
    return [value] if torch.is_tensor(value) else []


# What lies beyond a tensor, in the interpreter's representation of a type.
def beyond(numpy, element, kind, around):
    if kind.kind == "f":
        return 7.0 if around else -3.0
    if element.is_bf16():
        return 0x40E0 if around else 0xC040
    return 0 if around else min(1 << 20, int(numpy.iinfo(kind).max)) if kind.kind in "iu" else 1


# Functions that make tensors without contents.
def makers_of_memory(torch):
    Tensor = torch.Tensor
    return {torch.empty, torch.empty_like, torch.empty_strided, Tensor.new_empty, Tensor.new_empty_strided}


# One of two contents for such a tensor. On a GPU it is what earlier work left there.
def fill_memory(torch, made):
    try:
        if made.dtype == torch.bool:
            made.fill_(guarded_memory.fresh)
        else:
            made.fill_((7 if guarded_memory.fresh else -3) if made.dtype.is_signed else int(guarded_memory.fresh))
    except Exception:
        pass  # a type that cannot be filled: the tensor keeps what it has


def guard_memory(torch):
    try:
        import numpy
        from triton.runtime import interpreter
        builder, executor = type(interpreter.interpreter_builder), interpreter.GridExecutor
        load, store, swap, change = (builder.create_masked_load, builder.create_masked_store, builder.create_atomic_cas,
                                     builder.create_atomic_rmw)
        begin, address_of = executor._init_args_hst, builder.create_int_to_ptr
    except Exception:
        return  # another version of Triton has them elsewhere
    memory, nothing = guarded_memory(torch, numpy), numpy.zeros(1, dtype=bool)

    def known_args(self, args, kwargs):
        args, kwargs = begin(self, args, kwargs)
        memory.know(tensors_in(torch, [*args, *kwargs.values()]))
        guarded_memory.computes = False
        return args, kwargs

    def noted_address(self, *given):
        guarded_memory.computes = True
        return address_of(self, *given)

    def wrong_of(pointers, mask=None):
        size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        if memory.together(pointers.data, size):
            return None, nothing
        used = numpy.ones(pointers.data.shape, dtype=bool) if mask is None else numpy.asarray(getattr(mask, "data", mask), dtype=bool)
        used = numpy.broadcast_to(used, pointers.data.shape)
        return used, memory.outside(pointers.data, used, size)

    def guarded_load(self, pointers, mask, *rest):
        used, wrong = wrong_of(pointers, mask)
        if not wrong.any():
            return load(self, pointers, mask, *rest)
        guarded_memory.reads = guarded_memory.strays = True
        found = load(self, pointers, interpreter.TensorHandle(used & ~wrong, interpreter.tl.int1), *rest)
        value = beyond(numpy, pointers.get_element_ty(), found.data.dtype, guarded_memory.around)
        found.data = numpy.where(wrong, numpy.array(value, dtype=found.data.dtype), found.data)
        return found

    def refuse(wrong):
        if wrong.any():
            raise IndexError("the kernel writes to memory outside of its tensors" +
                             (", and it has read memory outside of them before" if guarded_memory.reads else ""))

    def guarded_store(self, pointers, value, mask, *rest):
        refuse(wrong_of(pointers, mask)[1])
        return store(self, pointers, value, mask, *rest)

    def guarded_swap(self, pointers, *rest):
        refuse(wrong_of(pointers)[1])
        return swap(self, pointers, *rest)

    def guarded_change(self, operation, pointers, value, mask, *rest):
        refuse(wrong_of(pointers, mask)[1])
        return change(self, operation, pointers, value, mask, *rest)

    executor._init_args_hst, builder.create_int_to_ptr = known_args, noted_address
    builder.create_masked_load, builder.create_masked_store = guarded_load, guarded_store
    builder.create_atomic_cas, builder.create_atomic_rmw = guarded_swap, guarded_change
