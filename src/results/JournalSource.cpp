#include "results/JournalSource.hpp"

namespace stereosweep::results {

BlockSource journal_source(const probe::Probe& probe, const JournalStore& store, const base::Digest& fingerprint) {
  return [&probe, &store, fingerprint](const plan::Block& block) -> std::optional<probe::RawBlock> {
    const auto* record = store.find(probe::block_key(probe, block, fingerprint));
    if (record == nullptr) {
      return std::nullopt;
    }
    const auto payload = store.read(*record);
    base::ByteReader reader(payload);
    return probe::RawBlock::read(reader, probe.schema(), block.num_contexts);
  };
}

}  // namespace stereosweep::results
