"""What a wheel contains (the install component `python` and the files of python/kevo) works in any folder by itself."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import folder, main, quick, root, small


class Wheel(unittest.TestCase):
    @unittest.skipUnless("KEVO_BUILD" in os.environ, "only ctest says where kevo was built")
    def test_a_copy_of_the_package_judges_programs(self):
        with folder() as scratch:
            subprocess.run(
                [os.environ["CMAKE"], "--install", os.environ["KEVO_BUILD"], "--component", "python", "--prefix", scratch],
                check=True, capture_output=True,
            )  # fmt: skip
            package = Path(scratch) / "kevo"
            shutil.copytree(root / "python/kevo", package, dirs_exist_ok=True)
            self.assertIn("kevo-worker-cpu", os.listdir(package / "libexec"))
            program = f"""
import kevo
print(kevo.__file__, kevo.evaluate({str(small)!r}, open({str(small.parent / "seed.cpp")!r}).read(), stage="checked", fitness={quick!r}).outcome)
"""
            said = subprocess.run(
                [sys.executable, "-B", "-c", program],
                cwd="/", env={**os.environ, "PYTHONPATH": scratch}, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            self.assertEqual(said.stdout.split(), [str(package / "__init__.py"), "valid"], said.stderr)


if __name__ == "__main__":
    main()
