// Uses a policy that learns, which needs Eigen.
#include <cstdio>

#include <kevo/learn/ridge.hpp>

int main() {
  std::puts("kevo/learn compiles");
  return sizeof(kevo::ridge) > 0 ? 0 : 1;
}
