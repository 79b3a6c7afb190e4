# Triton's interpreter executes the programs of a grid one after the other, so that a program that loads, adds and stores where an atomic
# operation is needed is right in it. Here the programs are executed in groups, in drawn orders: what one of a group stores is seen by the
# others of the group at the end, when all of it is stored, in a drawn order. A GPU may do the same with programs that run at the same time.
# Atomic operations act at once; what a program stores before or after one of its own is seen at once, too, since it may be what the others
# wait for.
import random


class pending_stores:
    def __init__(self, interpreter):
        self.memory = interpreter._interpreter
        self.numpy = interpreter.np
        self.group = []  # addresses with the values that a program of this group has left there
        self.own = None  # addresses with the values from before, of the program that runs
        self.bytes = 0
        self.waits = 0

    def load(self, addresses, like):
        everywhere = self.numpy.ones_like(addresses, dtype=bool)
        return self.memory.load(addresses, everywhere, self.numpy.zeros(addresses.shape, dtype=like.dtype), like.dtype)

    def store(self, addresses, values):
        self.memory.store(addresses, values, self.numpy.ones_like(addresses, dtype=bool))

    def begin(self):
        self.own = []
        self.waits = 0

    def will_store(self, pointers, value, mask):
        if self.own is None:
            return
        where = self.numpy.broadcast_to(mask, pointers.shape)
        addresses = self.numpy.ascontiguousarray(pointers[where])
        if addresses.size:
            values = self.numpy.broadcast_to(value, pointers.shape)[where]
            self.own.append((addresses, self.load(addresses, values)))
            self.bytes += addresses.nbytes + values.nbytes

    # The program speaks to others. If it does so again and again, it may wait for what another one has stored.
    def synchronize(self):
        self.own = None
        self.waits += 1
        if self.waits == 64:
            self.finish(None)

    def end(self):
        if self.own is not None:
            self.group += [(addresses, self.load(addresses, before)) for addresses, before in self.own]
            for addresses, before in reversed(self.own):
                self.store(addresses, before)
        self.own = None

    def finish(self, draw):
        group, self.group, self.bytes = self.group, [], 0
        if draw is not None:
            draw.shuffle(group)
        for addresses, values in group:
            self.store(addresses, values)


# Programs that wait for others are right on a GPU only because those with lower numbers begin first.
def may_wait(texts):
    return any(word in text for text in texts for word in ("atomic_cas", "atomic_xchg", "volatile", "while"))


def groups_of(programs, in_order, draw):
    programs = list(programs)
    if not in_order and draw.random() < 0.5:  # else neighbours are in one group
        draw.shuffle(programs)
    while programs:
        size = draw.choice((1, 2, 8, 32, 128))
        yield programs[:size]
        programs = programs[size:]


def mend_order(texts):
    try:
        import itertools
        from triton.runtime import interpreter
        kind, executor = interpreter.InterpreterBuilder, interpreter.GridExecutor
        store, load, cas, rmw = kind.create_masked_store, kind.create_masked_load, kind.create_atomic_cas, kind.create_atomic_rmw
        set_grid, launch = kind.set_grid_dim, executor.__call__
    except Exception:
        return  # the program says what is wrong when it imports Triton
    most_bytes = 64 << 20
    in_order = may_wait(texts)
    draw = random.Random(random.SystemRandom().getrandbits(64))
    pending = pending_stores(interpreter)
    launched = []

    def create_masked_store(self, ptrs, value, mask, *others):
        pending.will_store(ptrs.data, value.data, mask.data)
        return store(self, ptrs, value, mask, *others)

    def create_masked_load(self, ptrs, mask, other, cache, eviction, is_volatile):
        if is_volatile:
            pending.synchronize()
        return load(self, ptrs, mask, other, cache, eviction, is_volatile)

    def create_atomic_cas(self, *arguments):
        pending.synchronize()
        return cas(self, *arguments)

    def create_atomic_rmw(self, *arguments):
        pending.synchronize()
        return rmw(self, *arguments)

    def run_group(builder, group, run, arguments):
        for place in group:
            builder.set_grid_idx(*place)
            pending.begin()
            try:
                run(**arguments)
            finally:
                pending.end()
            if pending.bytes > most_bytes:
                pending.finish(draw)
        pending.finish(draw)

    # The interpreter calls the kernel for each program of the grid: the first call executes all, the others nothing.
    def set_grid_dim(self, *grid):
        set_grid(self, *grid)
        if not launched:
            return
        run = launched[-1].fn
        left = list(groups_of(itertools.product(*map(range, grid)), in_order, draw))

        def run_all(**arguments):
            while left:
                run_group(self, left.pop(0), run, arguments)

        launched[-1].fn = run_all

    def call(self, *arguments, **named):
        run = self.fn
        launched.append(self)
        try:
            return launch(self, *arguments, **named)
        finally:
            launched.pop()
            self.fn = run

    kind.create_masked_store, kind.create_masked_load = create_masked_store, create_masked_load
    kind.create_atomic_cas, kind.create_atomic_rmw = create_atomic_cas, create_atomic_rmw
    kind.set_grid_dim, executor.__call__ = set_grid_dim, call
