#pragma once
// The maximum of many straight lines at a position x that mostly increases.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kevo::detail {

/// The line with the greatest value at x, among lines height + slope * x that may be changed and added: a
/// kinetic tournament tree (Basch, Guibas & Hershberger, "Data structures for mobile data", J. Algorithms 31,
/// 1999). Every node stores the winner of its subtree and the x up to which it certainly wins; a query
/// compares again only where this x has passed or a line has changed. `set` and `push_back` are amortized
/// O(log n). `best` costs O(log n) for each change since the last query, as long as x does not fall; if it
/// falls, all is compared again, O(n).
class kinetic_maximum {
 public:
  std::size_t size() const { return lines_.size(); }

  void push_back(double height, double slope) {
    lines_.push_back({height, slope});
    if (lines_.size() > leaves_) {
      leaves_ = std::max<std::size_t>(2 * leaves_, 2);
      nodes_.assign(leaves_, {});  // inner nodes 1 .. leaves - 1, all outdated
    } else {
      touch(lines_.size() - 1);
    }
  }
  void set(std::size_t i, double height, double slope) {
    lines_[i] = {height, slope};
    touch(i);
  }
  /// The index of the greatest line at x, of equal ones the first. There must be a line.
  std::size_t best(double x) {
    if (x < x_) nodes_.assign(leaves_, {});
    x_ = x;
    return play(1).winner;
  }

 private:
  struct line {
    double height = 0;
    double slope = 0;
    double at(double x) const { return height + slope * x; }
  };
  struct node {
    std::uint32_t winner = 0;
    double until = -INFINITY;
  };

  /// Marks the nodes above a line as outdated.
  void touch(std::size_t i) {
    for (std::size_t at = (leaves_ + i) / 2; at >= 1; at /= 2) nodes_[at].until = -INFINITY;
  }
  /// The winner below a node, compared again where it is outdated.
  node play(std::size_t at) {
    if (at >= leaves_) return {static_cast<std::uint32_t>(at - leaves_), INFINITY};
    node& here = nodes_[at];
    if (here.until > x_) return here;
    const node left = play(2 * at), right = play(2 * at + 1);
    here = left;
    if (right.winner >= lines_.size()) return here;
    const line &a = lines_[left.winner], &b = lines_[right.winner];
    const bool right_wins = b.at(x_) > a.at(x_);
    const line &winner = right_wins ? b : a, &loser = right_wins ? a : b;
    here.winner = right_wins ? right.winner : left.winner;
    here.until = std::min(left.until, right.until);
    if (loser.slope > winner.slope) {
      here.until = std::min(here.until, (winner.height - loser.height) / (loser.slope - winner.slope));
    }
    return here;
  }

  std::vector<line> lines_;
  std::vector<node> nodes_;
  std::size_t leaves_ = 0;
  double x_ = -INFINITY;
};

}  // namespace kevo::detail
