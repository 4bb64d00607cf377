#include "results/JournalSource.hpp"

namespace stereosweep::results {

BlockSource journal_source(const probes::Probe& probe, const JournalStore& store, const base::Digest& fingerprint) {
  return [&probe, &store, fingerprint](const sweep::Block& block) -> std::optional<RawBlock> {
    const auto* record = store.find(probes::block_key(probe, block, fingerprint));
    if (record == nullptr) {
      return std::nullopt;
    }
    const auto payload = store.read(*record);
    base::ByteReader reader(payload);
    return RawBlock::read(reader, probe.schema(), block.num_contexts);
  };
}

}  // namespace stereosweep::results
