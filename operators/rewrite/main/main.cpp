// kevo-parse-cpp: reads C++ sources on its standard input and answers with their syntax trees, in a process
// of its own, because libclang was not written for hostile sources. A request is a line with the number of
// bytes of a source, and " cuda" behind it for device code, and then the source; the answer to it is a line
// with the number of bytes of the tree and then the tree. operators/rewrite/syntax.hpp describes the tree.
//
// Nothing is ever read but the standard input: before the first source, the process gives up opening files
// and all system calls but those of computing. Includes are blanked out, and a few declarations of the
// standard library take their place. The answers go to standard error, which is standard output under another
// number.

#include <clang-c/Index.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

#include "fitness/sandbox/lock_down.hpp"

namespace {

constexpr std::size_t most_bytes = 4'000'000;  // of a source, and about a tenth of what its tree may have
constexpr int most_depth = 400;                // of a tree

// What sources use of the standard library, as far as its types matter here.
constexpr const char* prelude = R"(
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;
typedef unsigned long uint64_t; typedef unsigned long size_t; typedef long ptrdiff_t;
typedef long intptr_t; typedef unsigned long uintptr_t;
extern "C" { void* malloc(size_t); void free(void*); void* memset(void*, int, size_t);
void* memcpy(void*, const void*, size_t); void* memmove(void*, const void*, size_t); void* calloc(size_t, size_t);
void* aligned_alloc(size_t, size_t); int abs(int);
float expf(float); float sqrtf(float); float logf(float); float fabsf(float); float fmaxf(float, float);
float fminf(float, float); float powf(float, float); float sinf(float); float cosf(float); float tanhf(float);
double exp(double); double sqrt(double); double log(double); double fabs(double); double fmax(double, double);
double fmin(double, double); double pow(double, double); double sin(double); double cos(double); double tanh(double); }
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;
using ::uint32_t; using ::uint64_t; using ::size_t; using ::ptrdiff_t; using ::intptr_t; using ::uintptr_t;
using ::malloc; using ::free; using ::memset; using ::memcpy; using ::memmove; using ::calloc; using ::aligned_alloc;
#define KEVO_ONE(name) float name(float); double name(double);
#define KEVO_TWO(name) float name(float, float); double name(double, double);
KEVO_ONE(exp) KEVO_ONE(sqrt) KEVO_ONE(log) KEVO_ONE(log2) KEVO_ONE(exp2) KEVO_ONE(fabs) KEVO_ONE(abs) KEVO_ONE(sin)
KEVO_ONE(cos) KEVO_ONE(tanh) KEVO_ONE(floor) KEVO_ONE(ceil) KEVO_ONE(erf) KEVO_TWO(pow) KEVO_TWO(fmax) KEVO_TWO(fmin)
#undef KEVO_ONE
#undef KEVO_TWO
int abs(int); long abs(long); float fma(float, float, float); double fma(double, double, double);
template <class T> const T& min(const T&, const T&);
template <class T> const T& max(const T&, const T&);
template <class T> void swap(T&, T&);
template <class I, class T> void fill(I, I, const T&);
template <class I, class O> O copy(I, I, O);
template <class T> struct vector {
  vector(); explicit vector(size_t); vector(size_t, const T&); template <class I> vector(I, I);
  T& operator[](size_t); const T& operator[](size_t) const; size_t size() const; T* data(); const T* data() const;
  T* begin(); T* end(); void resize(size_t); void assign(size_t, const T&);
  template <class I> void assign(I, I); void swap(vector&); T& front(); T& back(); void push_back(const T&);
};
template <class T, size_t n> struct array { T& operator[](size_t); const T& operator[](size_t) const;
  T* data(); const T* data() const; size_t size() const; void fill(const T&); T items[n]; };
template <class T> struct numeric_limits { static T max(); static T min(); static T lowest(); static T infinity(); };
}
)";

// What device code uses besides.
constexpr const char* cuda_prelude = R"(
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
struct kevo_three { unsigned x, y, z; };
extern const kevo_three threadIdx, blockIdx, blockDim, gridDim;
struct __attribute__((aligned(8))) float2 { float x, y; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct float3 { float x, y, z; };
struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
float2 make_float2(float, float); float4 make_float4(float, float, float, float);
void __syncthreads(); void __syncwarp(unsigned = ~0u); void __threadfence();
template <class T> T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_down_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_up_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_sync(unsigned, T, int, int = 32);
template <class T> T __ldg(const T*); template <class T> T __ldcs(const T*); template <class T> T __ldcg(const T*);
template <class T> void __stcs(T*, T); template <class T> void __stcg(T*, T);
template <class T> T atomicAdd(T*, T);
float __expf(float); float __fdividef(float, float); float rsqrtf(float); float exp2f(float); float fmaf(float, float, float);
float __fmaf_rn(float, float, float); double rsqrt(double); float floorf(float); float ceilf(float); float erff(float);
int min(int, int); long long min(long long, long long); unsigned min(unsigned, unsigned); float min(float, float);
int max(int, int); long long max(long long, long long); unsigned max(unsigned, unsigned); float max(float, float);
size_t __cvta_generic_to_shared(const void*);
#define INFINITY __builtin_inff()
)";

bool is_directive_to_skip(std::string_view line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string_view::npos) return false;
  if (line[at] == '#') {
    ++at;
  } else if (line.substr(at, 2) == "%:") {
    at += 2;
  } else {
    return false;
  }
  at = line.find_first_not_of(" \t", at);
  if (at == std::string_view::npos) return false;
  const std::string_view word = line.substr(at);
  for (const std::string_view one : {"include", "import", "embed"}) {
    if (word.substr(0, one.size()) == one) return true;
  }
  return false;
}

// The source with every include line as blanks, so that offsets stay.
std::string without_includes(std::string text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (is_directive_to_skip(std::string_view(text).substr(start, end - start))) {
      for (std::size_t i = start; i < end; ++i) text[i] = ' ';
    }
    start = end + 1;
  }
  return text;
}

std::string taken(CXString from) {
  const char* text = clang_getCString(from);
  std::string result = text == nullptr ? "" : text;
  clang_disposeString(from);
  for (char& c : result) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return result;
}

const char* kind_of(CXCursorKind kind) {
  switch (kind) {
    case CXCursor_FunctionDecl:
      return "function";
    case CXCursor_ParmDecl:
      return "parameter";
    case CXCursor_VarDecl:
      return "variable";
    case CXCursor_CompoundStmt:
      return "block";
    case CXCursor_DeclStmt:
      return "declaration";
    case CXCursor_ForStmt:
      return "for";
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_CXXForRangeStmt:
      return "while";
    case CXCursor_IfStmt:
      return "if";
    case CXCursor_ReturnStmt:
      return "return";
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
    case CXCursor_GotoStmt:
    case CXCursor_IndirectGotoStmt:
    case CXCursor_LabelStmt:
      return "jump";
    case CXCursor_NullStmt:
      return "nothing";
    case CXCursor_DeclRefExpr:
      return "name";
    case CXCursor_IntegerLiteral:
    case CXCursor_FloatingLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_CXXBoolLiteralExpr:
      return "literal";
    case CXCursor_ParenExpr:
      return "parentheses";
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
      return "binary";
    case CXCursor_UnaryOperator:
      return "unary";
    case CXCursor_ArraySubscriptExpr:
      return "subscript";
    case CXCursor_CallExpr:
      return "call";
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
      return "cast";
    case CXCursor_ConditionalOperator:
      return "conditional";
    default:
      return "other";
  }
}

bool is_reference(CXCursorKind kind) {
  return (kind >= CXCursor_FirstRef && kind <= CXCursor_LastRef) ||
         (kind >= CXCursor_FirstAttr && kind <= CXCursor_LastAttr);
}

struct position {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct writer {
  std::string out;
  std::size_t shift = 0;  // length of the prelude
  int depth = 0;
  bool too_much = false;

  position extent(CXCursor cursor) const {
    const CXSourceRange range = clang_getCursorExtent(cursor);
    unsigned begin = 0;
    unsigned end = 0;
    clang_getExpansionLocation(clang_getRangeStart(range), nullptr, nullptr, nullptr, &begin);
    clang_getExpansionLocation(clang_getRangeEnd(range), nullptr, nullptr, nullptr, &end);
    return {begin, end};
  }
};

struct collected {
  CXCursor items[64];
  int count = 0;
};

CXChildVisitResult collect(CXCursor cursor, CXCursor, CXClientData data) {
  auto& all = *static_cast<collected*>(data);
  if (is_reference(clang_getCursorKind(cursor))) return CXChildVisit_Continue;
  if (all.count < 64) all.items[all.count] = cursor;
  ++all.count;
  return CXChildVisit_Continue;
}

void write_node(writer& to, CXCursor cursor);

CXChildVisitResult write_child(CXCursor cursor, CXCursor, CXClientData data) {
  auto& to = *static_cast<writer*>(data);
  if (!is_reference(clang_getCursorKind(cursor))) write_node(to, cursor);
  return to.too_much ? CXChildVisit_Break : CXChildVisit_Continue;
}

void write_node(writer& to, CXCursor cursor) {
  const CXCursorKind kind = clang_getCursorKind(cursor);
  const position here = to.extent(cursor);
  if (here.end <= to.shift) return;  // the prelude
  if (++to.depth > most_depth || to.out.size() > 8 * most_bytes) {
    to.too_much = true;
    return;
  }
  collected below;
  clang_visitChildren(cursor, collect, &below);
  // What stands for its only child: implicit casts, temporaries, attributes of statements.
  if (clang_isUnexposed(kind) != 0 && below.count == 1) {
    write_node(to, below.items[0]);
    --to.depth;
    return;
  }
  std::string name;
  std::string type;
  long declared = -1;
  if (kind == CXCursor_DeclRefExpr || kind == CXCursor_CallExpr || kind == CXCursor_VarDecl ||
      kind == CXCursor_ParmDecl || kind == CXCursor_FunctionDecl) {
    name = taken(clang_getCursorSpelling(cursor));
  }
  if (kind == CXCursor_DeclRefExpr || kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) {
    const CXCursor to_what = kind == CXCursor_DeclRefExpr ? clang_getCursorReferenced(cursor) : cursor;
    unsigned offset = 0;
    clang_getExpansionLocation(clang_getCursorLocation(to_what), nullptr, nullptr, nullptr, &offset);
    if (offset > to.shift) declared = static_cast<long>(offset - to.shift);
  }
  if (clang_isExpression(kind) != 0 || kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl)
    type = taken(clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(cursor))));
  const auto relative = [&](std::size_t at) { return at < to.shift ? 0 : at - to.shift; };
  to.out += std::string(kind_of(kind)) + ' ' + std::to_string(relative(here.begin)) + ' ' +
            std::to_string(relative(here.end)) + ' ' + std::to_string(declared) + '\t' + name + '\t' + type +
            "\n";
  clang_visitChildren(cursor, write_child, &to);
  to.out += "end\n";
  --to.depth;
}

std::string tree_of(CXIndex index, const std::string& source, bool cuda) {
  const std::string before = cuda ? std::string(prelude) + cuda_prelude : std::string(prelude);
  const std::string text = before + without_includes(source);
  CXUnsavedFile file{"kernel.cpp", text.data(), text.size()};
  const char* const arguments[] = {
      "-xc++", "-std=gnu++20",     "-nostdinc",           "-nostdinc++",
      "-w",    "-ferror-limit=50", "-ftemplate-depth=64", "-fconstexpr-steps=100000"};
  CXTranslationUnit unit = nullptr;
  const CXErrorCode failed =
      clang_parseTranslationUnit2(index, "kernel.cpp", arguments, static_cast<int>(std::size(arguments)),
                                  &file, 1, CXTranslationUnit_KeepGoing, &unit);
  if (failed != CXError_Success || unit == nullptr) return "errors 1000\n";
  unsigned errors = 0;
  std::string first;
  for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
    CXDiagnostic one = clang_getDiagnostic(unit, i);
    if (clang_getDiagnosticSeverity(one) >= CXDiagnostic_Error && errors++ == 0)
      first = taken(clang_formatDiagnostic(one, CXDiagnostic_DisplaySourceLocation));
    clang_disposeDiagnostic(one);
  }
  writer to;
  to.shift = before.size();
  to.out = "errors " + std::to_string(errors) + '\t' + first + "\n";
  clang_visitChildren(clang_getTranslationUnitCursor(unit), write_child, &to);
  clang_disposeTranslationUnit(unit);
  if (to.too_much) return "errors 1000\tthe source is nested too deeply\n";
  return to.out;
}

void limit(__rlimit_resource what, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(what, &both);
}

bool read_all(char* to, std::size_t count) {
  while (count > 0) {
    const ssize_t got = read(STDIN_FILENO, to, count);
    if (got <= 0) return false;
    to += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

bool read_size(std::size_t& size, bool& cuda) {
  size = 0;
  cuda = false;
  for (int digits = 0; digits < 9; ++digits) {
    char c = 0;
    if (!read_all(&c, 1)) return false;
    if (c == ' ') {
      char word[5];
      cuda = read_all(word, 5) && std::string_view(word, 5) == "cuda\n";
      return cuda && digits > 0 && size <= most_bytes;
    }
    if (c == '\n') return digits > 0 && size <= most_bytes;
    if (c < '0' || c > '9') return false;
    size = size * 10 + static_cast<std::size_t>(c - '0');
  }
  return false;
}

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(STDERR_FILENO, text.data(), text.size());
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace

int main() {
  setenv("LIBCLANG_NOTHREADS", "1", 1);  // NOLINT(concurrency-mt-unsafe)
  CXIndex index = clang_createIndex(0, 0);
  limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(KEVO_SANITIZED)
  limit(RLIMIT_AS, rlim_t{2} << 30U);
#endif
  // After this, the process may only compute, and write to what is standard output and standard error from
  // now on.
  if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0) return 1;
  limit(RLIMIT_NOFILE, 3);  // no further file can be opened: not what a source includes, nor anything else
  try {
    kevo::lock_down(1, true);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kevo-parse-cpp: %s\n", e.what());
    return 1;
  }
  for (;;) {
    std::size_t size = 0;
    bool cuda = false;
    if (!read_size(size, cuda)) break;
    std::string source(size, '\0');
    if (!read_all(source.data(), size)) break;
    const std::string tree = tree_of(index, source, cuda);
    if (!write_all(std::to_string(tree.size()) + "\n" + tree)) break;
  }
  _exit(0);  // nothing that ends by itself may open a file now
}
