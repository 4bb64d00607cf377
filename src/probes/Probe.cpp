#include "probes/Probe.hpp"

namespace stereosweep::probes {

base::Digest block_key(const Probe& probe, const sweep::Block& block, const base::Digest& fingerprint) {
  base::Sha256 hash;
  hash.field("stereosweep block 1");
  hash.field({reinterpret_cast<const char*>(fingerprint.data()), fingerprint.size()});
  hash.number(block.num_contexts);
  probe.hash_content(block, hash);
  return hash.finish();
}

}  // namespace stereosweep::probes
