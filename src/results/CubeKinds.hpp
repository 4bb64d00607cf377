// Schemas of the cubes that statistics files hold: numbers and flags. For the room's own sources only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/RawBlock.hpp"

namespace stereosweep::results {

inline CubeSchema number_cube(std::string name, std::string units, std::string long_name,
                              std::string description = "") {
  return {std::move(name),      ElementType::float64,   {}, std::move(units),
          std::move(long_name), std::move(description), {}};
}

inline CubeSchema flag_cube(std::string name, std::string long_name, std::vector<std::string> meanings) {
  return {std::move(name), ElementType::uint8, {}, "", std::move(long_name), "", std::move(meanings)};
}

}  // namespace stereosweep::results
