"""The Python code of docs/python.md runs, block after block, in one program."""

import os
import re
import unittest

from support import main, root

os.chdir(root)


class Page(unittest.TestCase):
    def test_the_code_of_the_page_runs(self):
        page = (root / "docs/python.md").read_text()
        names = {"__name__": "page"}
        blocks = list(re.finditer(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
        self.assertGreaterEqual(len(blocks), 8)
        for block in blocks:
            line = page.count("\n", 0, block.start(1))
            exec(compile("\n" * line + block[1], "docs/python.md", "exec"), names)  # noqa: S102

    def test_the_page_shows_the_example_as_it_is(self):
        page = (root / "docs/python.md").read_text()
        example = (root / "python/examples/trl_reward.py").read_text()
        body = example[example.index("def kernel_reward") : example.index("\n\n\n#")]
        self.assertIn(body, page)


if __name__ == "__main__":
    main()
