"""kevo.search with roles written in Python: sorting the letters of a word."""

import threading
import unittest

import kevo
from support import main

word = "gfedcba"


class SwapTwo:
    """A variation operator as a plain class."""

    def vary(self, request, random):
        letters = list(request.parents[0].text)
        i, k = random.below(len(letters)), random.below(len(letters))
        letters[i], letters[k] = letters[k], letters[i]
        return "".join(letters), f"swapped {i} and {k}"


def in_order(request):
    text = request.text
    return sum(text[i] < text[k] for i in range(len(text)) for k in range(i + 1, len(text)))


def search(**parts):
    return kevo.search(
        **{
            "operators": [SwapTwo()],
            "seeds": [word],
            "stop": [{"evaluations": 300}, lambda now: "sorted" if now.best_score == 21 else None],
            "patience": 200,
            **parts,
        }
    )


class Roles(unittest.TestCase):
    def test_a_search_with_python_roles_sorts(self):
        best = search().run(in_order)
        self.assertEqual(best.evaluation.score, 21)
        self.assertEqual(best.text, "abcdefg")

    def test_the_same_seed_gives_the_same_search(self):
        def story(seed):
            events = []
            made = search(seed=seed, sinks=[events.append], stop={"evaluations": 40})
            made.run(in_order)
            return [(e["kind"], e.get("candidate"), e.get("program")) for e in events]

        self.assertEqual(story(1), story(1))
        self.assertNotEqual(story(1), story(2))

    def test_several_workers_tell_in_any_order(self):
        seen = set()

        def fitness(request):
            seen.add(threading.get_ident())
            return in_order(request)

        made = search(proposals_ahead=8)
        self.assertEqual(made.run(fitness, workers=4).evaluation.score, 21)
        self.assertGreater(len(seen), 1)

    def test_an_operator_that_raises_loses_that_proposal_only(self):
        class Fails:
            turns = 0

            def vary(self, request, random):
                Fails.turns += 1
                if Fails.turns % 2:
                    raise ValueError("no idea")
                return SwapTwo().vary(request, random)

        events = []
        made = search(operators=[Fails()], sinks=[events.append], stop={"evaluations": 60})
        made.run(in_order)
        told = [e for e in events if e["kind"] == "variation_told"]
        failed = [e for e in told if e["summary"].startswith("Fails raised ValueError: no idea")]
        self.assertTrue(failed)
        self.assertIn("Traceback", failed[0]["transcript"])
        self.assertGreater(len(told), len(failed))
        self.assertGreaterEqual(made.progress.evaluations, 60)

    def test_what_an_operator_returns_may_be_wrong(self):
        for answer in (7, None, "\ud800", (None, "nothing left"), ("a", "b", "c"), {"x": 1}, kevo.NoProposal("tired", exhausted=True)):
            made = search(operators=[lambda request, random: answer], patience=3)
            made.run(in_order)
            self.assertEqual(made.progress.evaluations, 1, answer)
            self.assertTrue(made.stopped)

    def test_an_operator_sees_its_request(self):
        kept = []

        def vary(request, random):
            kept.append(request)
            line = request.lineage()
            self.assertEqual(line[0].id, request.parents[0].id)
            self.assertTrue(request.seen(word))
            self.assertIsNone(request.task)
            self.assertGreaterEqual(request.parents[0].evaluation.score, 0)
            request.note("looked around")
            return SwapTwo().vary(request, random)

        made = search(operators=[vary], fitness=in_order, stop={"evaluations": 5})
        made.run()
        self.assertTrue(kept)
        self.assertEqual(kept[0].lineage(), [], "services end with the call")
        self.assertEqual(kept[0].parents[0].text, word)

    def test_drafts_are_evaluated_and_booked(self):
        def vary(request, random):
            draft, summary = SwapTwo().vary(request, random)
            better = request.evaluate(draft).score > request.parents[0].score
            return (draft, summary) if better else (None, "no better")

        events = []
        made = search(operators=[vary], fitness=in_order, sinks=[events.append], stop={"evaluations": 80})
        made.run()
        self.assertTrue([e for e in events if e["kind"] == "draft_evaluated"])

    def test_a_selector(self):
        class Newest:
            views = []
            observed = 0

            def select(self, view, random):
                Newest.views.append(view)
                return {"parents": [view.nth_best(random.below(view.ranked))], "scope": "siblings"}

            def observe(self, seen):
                Newest.observed += 1

        made = search(select=Newest(), stop={"evaluations": 30})
        made.run(in_order)
        self.assertGreater(Newest.observed, 20)
        with self.assertRaises(kevo.Error):
            Newest.views[0].ranked
        with self.assertRaises(kevo.Error):
            search(select=lambda view, random: 10**6).run(in_order)
        with self.assertRaises(ZeroDivisionError):
            search(select=lambda view, random: 1 // 0).run(in_order)

    def test_stop_rules_combine(self):
        made = search(stop=[{"evaluations": 1000}, lambda now: "sorted" if now.best_score == 21 else None])
        made.run(in_order)
        self.assertEqual(made.stopped, "sorted")

    def test_a_fitness_function(self):
        class Judge:
            def evaluate(self, request):
                if request.text.startswith("g"):
                    return kevo.Evaluation(outcome="incorrect", feedback="begins with g")
                return {"score": in_order(request), "measures": {"first": ord(request.text[0])}}

        made = search(seeds=[word, "badcefg"], archive={"type": "grid", "measures": {"first": {"bins": 7, "range": [97, 104]}}})
        best = made.run(Judge())
        self.assertEqual(best.text, "abcdefg")
        self.assertGreater(len(made.elites), 2)
        with self.assertRaises(ZeroDivisionError):
            search().run(lambda request: 1 / 0)
        with self.assertRaises(kevo.Error):
            search().run(lambda request: "good")
        with self.assertRaisesRegex(kevo.Error, "finite"):
            search().run(lambda request: float("nan"))

    def test_an_archive(self):
        class BestOfEachStart:
            def __init__(self):
                self.kept = {}

            def add(self, id, score, measures, parents, program):
                key = program.text[0]
                known = self.kept.get(key)
                if known and known[1] >= score:
                    return "rejected"
                self.kept[key] = (id, score)
                return ("improved", score - known[1]) if known else ("new_cell", score)

            update = add

            def remove(self, id):
                before = len(self.kept)
                self.kept = {k: v for k, v in self.kept.items() if v[0] != id}
                return len(self.kept) < before

            def __len__(self):
                return len(self.kept)

            def at(self, i):
                return sorted(self.kept.values())[i]

        archive = BestOfEachStart()
        made = search(archive=archive, select=lambda view, random: random.choice(view.elites)[0])
        made.run(in_order)
        self.assertGreater(len(archive.kept), 3)
        self.assertEqual(sorted(made.elites), sorted(archive.kept.values()))

    def test_wrong_parts_are_refused(self):
        for wrong in ({"operators": []}, {"operators": [SwapTwo]}, {"operators": [3]}, {"select": "greediest"},
                      {"stop": {"evaluation": 3}}, {"archive": 5}, {"portfolio": SwapTwo()}):
            with self.assertRaises(kevo.Error, msg=str(wrong)):
                search(**wrong)


class AskAndTell(unittest.TestCase):
    def test_results_are_told_in_any_order(self):
        made = search(stop={"evaluations": 20})
        outstanding = []
        random = kevo.Random(5)
        while True:
            job = made.ask()
            if job.kind in ("vary", "evaluate"):
                outstanding.append(job)
                continue
            if not outstanding:
                break
            done = outstanding.pop()  # the newest first
            if done.kind == "vary":
                made.tell(done, SwapTwo().vary(done.request, random))
            else:
                made.tell(done, in_order(done.request))
        self.assertTrue(made.stopped)
        self.assertGreaterEqual(made.progress.evaluations, 20)

    def test_a_result_is_told_once(self):
        made = search()
        job = made.ask()
        self.assertEqual(job.kind, "evaluate")
        made.tell(job, 1.0)
        with self.assertRaises(kevo.Error):
            made.tell(job, 1.0)

    def test_a_role_cannot_use_its_search(self):
        holder = []

        def select(view, random):
            holder[0].ask()

        holder.append(search(select=select))
        with self.assertRaises(kevo.Error) as raised:
            holder[0].run(in_order)
        self.assertEqual(raised.exception.code, "usage")


if __name__ == "__main__":
    main()
