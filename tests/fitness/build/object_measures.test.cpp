#include "fitness/build/object_measures.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/build/compiler.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;

TEST_CASE("instructions are counted by kind, in the candidate's own functions") {
  const auto counts = count_instructions(
      "/object.so:     file format elf64-x86-64\n\n"
      "Disassembly of section .plt:\n\n0000000000001020 <x@plt>:\n    1020:\tjmp    *0x2fe2(%rip)\n"
      "Disassembly of section .text:\n\n"
      "0000000000001040 <deregister_tm_clones>:\n    1040:\tlea    0x2fd9(%rip),%rdi\n"
      "0000000000001050 <kevo_entry>:\n    1050:\tvmovups (%rdi),%ymm0\n"
      "0000000000001060 <run>:\n"
      "    1060:\tendbr64\n"
      "    1064:\tvmovups (%rdi),%ymm0\n"
      "    1068:\tvfmadd213ps (%rsi),%zmm1,%zmm0\n"
      "    106c:\taddps  (%rdi),%xmm0\n"
      "    1070:\taddss  (%rdi),%xmm0\n"
      "    1074:\tmovaps %xmm1,%xmm0\n"
      "    1078:\tpxor   %xmm0,%xmm0\n"
      "    107c:\tpaddd  %xmm1,%xmm0\n"
      "    1080:\tvfmadd231ss %xmm1,%xmm2,%xmm0\n"
      "    1084:\tvxorps %xmm0,%xmm0,%xmm0\n"
      "    1088:\tpush   %rbp\n"
      "    108c:\tret\n"
      "    108d:\tnopl   (%rax)\n"
      "    1090:\tcs nopw 0x0(%rax,%rax,1)\n"
      "    1094:\txchg   %ax,%ax\n");
  CHECK(counts.at("instructions") == 11);
  CHECK(counts.at("vector_instructions") == 4);
  CHECK(counts.at("fma_instructions") == 2);
  CHECK(counts.at("vector_fraction") == doctest::Approx(4.0 / 11));
  CHECK(count_instructions("").at("vector_fraction") == 0);
}

TEST_CASE("malformed objects are errors, not crashes") {
  CHECK_THROWS_AS(text_bytes_of_elf(""), kevo::error);
  CHECK_THROWS_AS(text_bytes_of_elf(std::string(64, 'x')), kevo::error);
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  CHECK(text_bytes_of_elf(file) > 1000);
  // Every cut and every changed byte of the header ends in a number or an error.
  for (std::size_t cut :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{100}, file.size() - 1}) {
    CHECK_THROWS_AS(text_bytes_of_elf(std::string_view(file).substr(0, cut)), kevo::error);
  }
  for (std::size_t i = 0; i < 64; ++i) {
    const char kept = file[i];
    for (const char changed : {'\0', '\x7f', '\xff'}) {
      file[i] = changed;
      try {
        (void)text_bytes_of_elf(file);
      } catch (const kevo::error&) {
      }
    }
    file[i] = kept;
  }
}

TEST_CASE("an object is measured") {
  compiler_settings settings;
  settings.sandbox = sandbox_mode::best;
  compiler builds(settings);
  build_request request;
  request.flags = {"-O3", "-mavx2", "-mfma"};
  request.source =
      single_file_program("cpp", "kernel.cpp",
                          "extern \"C\" void run(const float* a, const float* b, float* c, long n) {\n"
                          "  for (long i = 0; i < n; ++i) c[i] = a[i] * b[i] + c[i];\n}\n");
  const auto vectors = builds.build(request);
  REQUIRE(vectors.ok);
  const auto measures = measures_of_object(vectors.object_path, sandbox_mode::best);
  CHECK(measures.at("code_bytes") > 50);
  CHECK(measures.at("object_bytes") == static_cast<double>(std::filesystem::file_size(vectors.object_path)));
  request.flags = {"-O1", "-fno-tree-vectorize"};
  const auto scalars = builds.build(request);
  REQUIRE(scalars.ok);
  const auto few = measures_of_object(scalars.object_path, sandbox_mode::best);
  CHECK(few.at("code_bytes") < measures.at("code_bytes"));
  CHECK_THROWS_AS(measures_of_object("/nowhere", sandbox_mode::best), kevo::error);
  CHECK_THROWS_AS(measures_of_object("/etc/passwd", sandbox_mode::best), kevo::error);
  if (!std::filesystem::exists("/usr/bin/objdump"))
    return kevo_test::skip("there is no objdump, so that no instructions are counted");
  CHECK(measures.at("vector_instructions") >= 3);
  CHECK(measures.at("vector_fraction") > 0.02);
  CHECK(measures.at("fma_instructions") >= 1);
  CHECK(few.at("vector_instructions") == 0);
  CHECK(few.at("instructions") >= 5);
}
