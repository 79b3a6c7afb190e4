// The line of a tool's output that says why it failed.
#include "src/base/text/useful_line.hpp"

#include <doctest/doctest.h>

using kevo::useful_line;

TEST_CASE("lines that lead up to an error are passed over") {
  CHECK(useful_line("In file included from error.hpp:3,\n"
                    "                 from kernel.cpp:1:\n"
                    "helper.hpp: In function 'void error_of(int)':\n"
                    "helper.hpp:7:3: warning: unused variable 'error' [-Wunused]\n"
                    "helper.hpp:9:5: error: 'x' was not declared\n"
                    "    9 |     x = 1;\n") == "helper.hpp:9:5: error: 'x' was not declared");
  CHECK(useful_line("In file included from a.cpp:1:\nb.hpp:1: 'x' is missing\n") ==
        "b.hpp:1: 'x' is missing");
}

TEST_CASE("an error is a word, not a part of a name or path") {
  CHECK(useful_line("src/error.cpp looks odd\nerror_count is 3\nld: cannot find -lfoo\n") ==
        "ld: cannot find -lfoo");
  CHECK(useful_line("a.cu(1): error: y\nerror: z\n") == "a.cu(1): error: y");
  CHECK(useful_line("ptxas fatal   : Unresolved extern function 'f'\n") ==
        "ptxas fatal   : Unresolved extern function 'f'");
  CHECK(
      useful_line("/usr/bin/ld: a.o: in function `run':\na.cpp:(.text+0x5): undefined reference to `f'\n") ==
      "a.cpp:(.text+0x5): undefined reference to `f'");
}

TEST_CASE("a traceback is explained by its last line") {
  CHECK(useful_line("Traceback (most recent call last):\n  File \"judge.py\", line 3, in <module>\n"
                    "    raise error\nValueError: no such shape\n\n") == "ValueError: no such shape");
}

TEST_CASE("what is no error message gives its first line that says anything") {
  CHECK(useful_line("\n  \r\nwrong sum\nmore\n") == "wrong sum");
  CHECK(useful_line("note: x\nnote: y\n") == "note: x");
  CHECK(useful_line("\n \n").empty());
  CHECK(useful_line("").empty());
}
