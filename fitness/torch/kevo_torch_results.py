# What a program may return as a result. The bytes of its elements are what is judged, so nothing here is believed by anybody: it says
# clearly what is wrong.


# PyTorch's own functions, taken before the program is executed: a program may replace what the attributes of a tensor give.
class result_checks:
    def __init__(self, torch):
        base = torch._C.TensorBase
        self.plain = torch.Tensor, torch.nn.Parameter
        self.strided = torch.strided
        self.empty, self.copy = torch.empty, base.copy_
        for name in ("shape", "dtype", "layout", "device", "itemsize"):
            setattr(self, name + "_of", getattr(base, name).__get__)
        for name in ("stride", "storage_offset", "untyped_storage", "data_ptr", "is_neg", "is_conj", "is_contiguous"):
            setattr(self, name + "_of", getattr(base, name))
        self.bytes_of = torch._C.StorageBase.nbytes

    # What is wrong with a result; None if nothing is.
    def wrong(self, got, shape, dtype, device):
        if type(got) not in self.plain:
            return f"it returned a {type(got).__name__}, not a torch.Tensor"
        mine = list(self.shape_of(got))
        if mine != shape:
            return f"it returned the shape {mine}; the task says {shape}"
        if self.dtype_of(got) != dtype:
            return f"it returned {str(self.dtype_of(got))[6:]}; the task says {str(dtype)[6:]}"
        if self.device_of(got) != device:
            return f"it returned a tensor on {self.device_of(got)}; the inputs are on {device}"
        if self.layout_of(got) != self.strided:
            return f"it returned a tensor of the layout {str(self.layout_of(got))[6:]}; results are strided tensors"
        if 0 in mine:
            return None
        # PyTorch allows neither negative strides nor a negative offset.
        strides, offset = self.stride_of(got), self.storage_offset_of(got)
        last = offset + sum((extent - 1) * stride for extent, stride in zip(mine, strides))
        has = self.bytes_of(self.untyped_storage_of(got))
        if (last + 1) * self.itemsize_of(got) > has:
            return (f"it returned a tensor that goes beyond its memory: strides {list(strides)} and offset {offset} need "
                    f"{(last + 1) * self.itemsize_of(got)} bytes, its storage has {has}")
        return None

    # Whether the elements of a result are still to be made, or are not its own: several of them are one place in memory (an expanded
    # tensor), they lie in an input (`inputs`: first and last address of each), or their signs are changed when they are read.
    def is_borrowed(self, got, inputs):
        if self.is_neg_of(got) or self.is_conj_of(got):
            return True
        place = self.data_ptr_of(got)
        if any(first <= place < last for first, last in inputs):
            return True
        if self.is_contiguous_of(got):
            return False
        # In the order of strides, each step must be longer than all that the shorter ones reach together. All views that PyTorch's
        # functions make of a tensor without overlaps are like this, but for some of as_strided.
        reach = 0
        for stride, extent in sorted((stride, extent) for stride, extent in zip(self.stride_of(got), self.shape_of(got)) if extent > 1):
            if stride <= reach:
                return True
            reach += (extent - 1) * stride
        return False

    # The same elements in memory of their own.
    def own(self, got):
        return self.copy(self.empty(self.shape_of(got), dtype=self.dtype_of(got), device=self.device_of(got)), got)

    # Copies a result. One that is borrowed is first made, in memory of its own, as a program that returns its own result does.
    def take(self, into, got, inputs):
        self.copy(into, self.own(got) if self.is_borrowed(got, inputs) else got)
