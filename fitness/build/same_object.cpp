#include "fitness/build/same_object.hpp"

#include <fstream>
#include <iterator>

#include "fitness/build/loaded_parts.hpp"

namespace kevo {

bool same_object(const std::string& path, const std::string& other) {
  std::ifstream one(path, std::ios::binary);
  std::ifstream two(other, std::ios::binary);
  if (!one || !two) return false;
  using bytes = std::istreambuf_iterator<char>;
  const std::string first((bytes(one)), bytes());
  const std::string second((bytes(two)), bytes());
  return loaded_parts(first) == loaded_parts(second);
}

}  // namespace kevo
