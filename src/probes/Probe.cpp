#include "probes/Probe.hpp"

#include <algorithm>

#include "base/Error.hpp"

namespace stereosweep::probes {

const std::vector<std::string>& coordinate_of(const results::AxisSchema& axis, const std::string& name) {
  const auto found = std::ranges::find(axis.coordinates, name, &results::AxisSchema::Coordinate::name);
  if (found == axis.coordinates.end()) {
    throw base::InputError(base::describe("the axis '" + axis.name + "' has no coordinate '" + name + "'",
                                          "this is no result of the probe"));
  }
  return found->values;
}

base::Digest block_key(const Probe& probe, const sweep::Block& block, const base::Digest& fingerprint) {
  base::Sha256 hash;
  hash.field("stereosweep block 1");
  hash.field({reinterpret_cast<const char*>(fingerprint.data()), fingerprint.size()});
  hash.number(block.num_contexts);
  probe.hash_content(block, hash);
  return hash.finish();
}

}  // namespace stereosweep::probes
