#pragma once
// Macro actions: a kind of change and the place where it is made. Each is a file of its name in actions/, or
// in cuda/ if it is for device code only.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "operators/rewrite/loops.hpp"
#include "operators/rewrite/syntax.hpp"
#include "operators/rewrite/text.hpp"

namespace kevo::rewriting {

/// What an action looks at.
struct kernel {
  const parsed_source& in;
  std::vector<placed_loop> loops;
  const kevo::task* task = nullptr;  ///< may be null
  int threads = 1;                   ///< that the kernel may use
  bool cuda = false;                 ///< device code with launch lines
};

/// A place where an action may be tried.
struct site {
  std::size_t loop = 0;      ///< in kernel::loops
  const node* at = nullptr;  ///< for actions that need more than a loop
  double weight = 1;         ///< how promising it is, compared with the other sites of the action
};

/// The language of the sources that an action can change.
enum class action_language : std::uint8_t { cpp, cuda, both };

struct action {
  std::string_view name;
  std::string_view about;
  double weight;  ///< how often it is tried, compared with the other actions
  std::vector<site> (*sites)(const kernel& of);
  /// The new text. Throws `refusal` if the change cannot be right or cannot be written.
  std::string (*apply)(const kernel& of, const site& where, rng& random);
  action_language language = action_language::cpp;
};

/// All actions.
std::span<const action> actions();

/// "loop i in line 7"
std::string place_of(const kernel& of, const site& where);

/// Whether there is a loop in the loop whose number of iterations is not a small constant.
bool has_long_loop_inside(const kernel& of, const placed_loop& which);
/// Whether the loop runs a small, constant number of times.
bool is_short(const kernel& of, const placed_loop& which);
/// "constexpr int NAME = VALUE;  // kevo: {...}"
std::string tunable_line(const std::string& name, int value, const std::string& domain);

/// Whether the loop is, or stands in, what a widened loop left over.
bool is_rest(const placed_loop& which);
/// The innermost loop around a node; nothing if there is none.
const placed_loop* loop_around(const kernel& of, const node& one);
/// The only statement of a loop's body, if it is a loop whose header does not depend on the outer one.
std::optional<counted_loop> only_loop_in(const kernel& of, const counted_loop& outer);
/// Whether no variable in the expression is declared or assigned to in the loop, nor is its index.
bool is_invariant(const kernel& of, const node& expression, const counted_loop& in);
/// Text in front of a loop that stands in a block. Throws `refusal` if it does not.
void put_before(changes& all, const kernel& of, const placed_loop& loop, const std::string& line);

std::vector<site> interchange_sites(const kernel& of);
std::string interchange(const kernel& of, const site& where, rng& random);
std::vector<site> tile_sites(const kernel& of);
std::string tile(const kernel& of, const site& where, rng& random);
std::vector<site> jam_sites(const kernel& of);
std::string jam(const kernel& of, const site& where, rng& random);
std::vector<site> split_sites(const kernel& of);
std::string split(const kernel& of, const site& where, rng& random);
std::vector<site> vectorize_sites(const kernel& of);
std::string vectorize(const kernel& of, const site& where, rng& random);
std::vector<site> unroll_sites(const kernel& of);
std::string unroll(const kernel& of, const site& where, rng& random);
std::vector<site> simd_sites(const kernel& of);
std::string simd(const kernel& of, const site& where, rng& random);
std::vector<site> privatize_sites(const kernel& of);
std::string privatize(const kernel& of, const site& where, rng& random);
std::vector<site> peel_sites(const kernel& of);
std::string peel(const kernel& of, const site& where, rng& random);
std::vector<site> pack_sites(const kernel& of);
std::string pack(const kernel& of, const site& where, rng& random);
std::vector<site> scalar_sites(const kernel& of);
std::string scalar(const kernel& of, const site& where, rng& random);
std::vector<site> hoist_sites(const kernel& of);
std::string hoist(const kernel& of, const site& where, rng& random);
std::vector<site> reciprocal_sites(const kernel& of);
std::string reciprocal(const kernel& of, const site& where, rng& random);
std::vector<site> approximate_sites(const kernel& of);
std::string approximate(const kernel& of, const site& where, rng& random);
std::vector<site> fuse_sites(const kernel& of);
std::string fuse(const kernel& of, const site& where, rng& random);
std::vector<site> distribute_sites(const kernel& of);
std::string distribute(const kernel& of, const site& where, rng& random);
std::vector<site> restrict_pointers_sites(const kernel& of);
std::string restrict_pointers(const kernel& of, const site& where, rng& random);
std::vector<site> prefetch_sites(const kernel& of);
std::string prefetch(const kernel& of, const site& where, rng& random);
std::vector<site> keep_sites(const kernel& of);
std::string keep(const kernel& of, const site& where, rng& random);
std::vector<site> select_sites(const kernel& of);
std::string select(const kernel& of, const site& where, rng& random);
std::vector<site> share_among_threads_sites(const kernel& of);
std::string share_among_threads(const kernel& of, const site& where, rng& random);

// CUDA (operators/rewrite/cuda)
std::vector<site> block_sites(const kernel& of);
std::string block(const kernel& of, const site& where, rng& random);
std::vector<site> blocks_sites(const kernel& of);
std::string blocks(const kernel& of, const site& where, rng& random);
std::vector<site> swap_axes_sites(const kernel& of);
std::string swap_axes(const kernel& of, const site& where, rng& random);
std::vector<site> launch_bounds_sites(const kernel& of);
std::string launch_bounds(const kernel& of, const site& where, rng& random);
std::vector<site> converge_sites(const kernel& of);
std::string converge(const kernel& of, const site& where, rng& random);
std::vector<site> coarsen_sites(const kernel& of);
std::string coarsen(const kernel& of, const site& where, rng& random);
std::vector<site> stage_sites(const kernel& of);
std::string stage(const kernel& of, const site& where, rng& random);
std::vector<site> exchange_sites(const kernel& of);
std::string exchange(const kernel& of, const site& where, rng& random);
std::vector<site> cooperate_sites(const kernel& of);
std::string cooperate(const kernel& of, const site& where, rng& random);
std::vector<site> wide_loads_sites(const kernel& of);
std::string wide_loads(const kernel& of, const site& where, rng& random);
std::vector<site> split_k_sites(const kernel& of);
std::string split_k(const kernel& of, const site& where, rng& random);
std::vector<site> persistent_sites(const kernel& of);
std::string persistent(const kernel& of, const site& where, rng& random);
std::vector<site> fuse_kernels_sites(const kernel& of);
std::string fuse_kernels(const kernel& of, const site& where, rng& random);

}  // namespace kevo::rewriting
