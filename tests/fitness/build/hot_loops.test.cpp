// Loops found in the text of a disassembly.
#include "fitness/build/hot_loops.hpp"

#include <doctest/doctest.h>

#include "tests/support/has.hpp"

using namespace kevo;

namespace {

// As objdump -d --no-show-raw-insn -w writes it.
const char* const listing = R"(
/object.so:     file format elf64-x86-64


Disassembly of section .text:

0000000000001040 <run>:
    1040:	xor    %eax,%eax
    1042:	vxorps %xmm0,%xmm0,%xmm0
    1046:	mov    %rdx,-0x8(%rsp)
    104b:	nopl   0x0(%rax,%rax,1)
    1050:	mov    $0x0,%ecx
    1055:	vmovups (%rdi,%rcx,4),%ymm1
    105a:	vfmadd213ps 0x20(%rsp),%ymm0,%ymm1
    1061:	vmovups %ymm1,(%rsi,%rcx,4)
    1066:	vmovups %ymm2,0x40(%rsp)
    106c:	vdivps 0x2f8(%rip),%ymm1,%ymm1        # 136c <_fini+0x10>
    1074:	add    $0x8,%rcx
    1078:	cmp    (%r9),%rcx
    107b:	jne    1055 <run+0x15>
    107d:	inc    %rax
    1080:	cmp    %rdx,%rax
    1083:	jne    1050 <run+0x10>
    1085:	ret

0000000000001090 <tail>:
    1090:	movss  (%rdi),%xmm0
    1094:	addss  (%rsi),%xmm0
    1098:	call   1040 <run>
    109d:	dec    %rdx
    10a0:	jne    1090 <tail>
    10a2:	ret

00000000000010b0 <kevo_0123>:
    10b0:	dec    %rdx
    10b3:	jne    10b0 <kevo_0123>
    10b5:	ret
)";

}  // namespace

TEST_CASE(
    "the innermost loops whose instructions compute most come first, with widths, spills and slow "
    "instructions") {
  const auto loops = innermost_loops(listing);
  REQUIRE(loops.size() == 2);
  const auto& hot = loops[0];
  CHECK(hot.function == "run");
  CHECK(hot.depth == 2);
  CHECK(hot.lines.size() == 8);
  CHECK(hot.lines.front() == "vmovups (%rdi,%rcx,4),%ymm1");
  CHECK(hot.middle == 5);
  CHECK(hot.wide == 0);
  CHECK(hot.fma == 1);
  CHECK(hot.loads == 3);  // the row, the divisor, and what is compared
  CHECK(hot.stores == 1);
  CHECK(hot.reloads == 1);
  CHECK(hot.spills == 1);
  CHECK(hot.slow == 1);
  const auto& scalar = loops[1];
  CHECK(scalar.function == "tail");
  CHECK(scalar.depth == 1);
  CHECK(scalar.narrow == 0);
  CHECK(scalar.calls == 1);
  CHECK(scalar.loads == 2);
}

TEST_CASE("a loop in words, cut, and as a block for llvm-mca") {
  const auto loops = innermost_loops(listing, "run");
  REQUIRE(loops.size() == 1);
  const std::string said = describe(loops[0], 2);
  CHECK_MESSAGE(
      has(said, "loop in run, depth 2: 8 instructions, 5 with ymm registers (256 bits), 1 multiply-adds"),
      said);
  CHECK_MESSAGE(has(said, "1 stores to the stack and 1 loads from it (spilled registers)"), said);
  CHECK_MESSAGE(has(said, "... and 6 further instructions"), said);
  const std::string block = block_of(loops[0]);
  CHECK(has(block, ".Lkevo:\nvmovups (%rdi,%rcx,4),%ymm1\n"));
  CHECK(has(block, "jne .Lkevo\n"));
  CHECK(!has(block, "_fini"));
  CHECK(has(describe(innermost_loops(listing, "tail").at(0), 9), "no vector instruction"));
  CHECK(!has(block_of(innermost_loops(listing, "tail").at(0)), "call"));
}

TEST_CASE("loops that move much or lie deeper come after the one that computes") {
  const auto loops = innermost_loops(
      "0000000000000010 <run>:\n"
      "  10:\tinc    %rax\n"
      "  14:\tmulss  %xmm1,%xmm2\n"
      "  18:\tjne    14 <run+0x4>\n"
      "  1c:\tjne    10 <run>\n"
      "  20:\tvmovups (%rdi),%zmm1\n"
      "  24:\tvinserti64x2 $0x1,%xmm2,%ymm2,%ymm3\n"
      "  28:\tjne    20 <run+0x10>\n"
      "  30:\tvmulps %xmm3,%xmm2,%xmm2\n"
      "  34:\tvaddps %xmm2,%xmm0,%xmm0\n"
      "  38:\tjne    30 <run+0x20>\n");
  REQUIRE(loops.size() == 3);
  CHECK(loops[0].narrow == 2);
  CHECK(loops[0].arithmetic == 8);
  CHECK(loops[1].depth == 2);
  CHECK(loops[2].arithmetic == 0);
}

TEST_CASE("a text that is no disassembly has no loops") {
  CHECK(innermost_loops("").empty());
  CHECK(innermost_loops("jne 10\n 10:\tjne\n<x>:\n zz:\tjne 5\n").empty());
  CHECK(innermost_loops(std::string(10000, ':')).empty());
  CHECK(innermost_loops(listing, "no such function").empty());
}
