"""A search whose operator, selector, stop rule and fitness function are written in Python: a word finds its letters."""

import kevo

target = "roofline"


class ChangeLetter:
    """A variation operator: no base class, a method `vary`."""

    def vary(self, request, random):
        letters = list(request.parents[0].text)
        place = random.below(len(letters))
        letters[place] = chr(random.integer(ord("a"), ord("z")))
        return "".join(letters), f"changed letter {place}"


class AmongTheBest:
    """A selector: looks at the population, names a parent."""

    def select(self, view, random):
        return view.nth_best(random.below(min(3, view.ranked)))


def letters_right(request):
    """A fitness function: the score."""
    return sum(a == b for a, b in zip(request.text, target))


search = kevo.search(
    operators=[ChangeLetter()],
    select=AmongTheBest(),
    stop=[{"evaluations": 20000}, lambda now: "the word is found" if now.best_score == len(target) else None],
    seeds=["a" * len(target)],
    patience=10000,
)
best = search.run(letters_right)
print(f"{best.text} after {search.progress.evaluations} evaluations: {search.stopped}")
