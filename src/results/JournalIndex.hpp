// Where the records of one attempt's journal lie, in a file beside it, ATTEMPT.index: with it a start reads no payload.
//   "SSWINDEX", u32 version, u32 CRC of the journal's header, u64 covered, u32 checksum of the last record, 4 u64 of
//   cost, u64 count; of each record key, u64 block, u64 offset, u64 size, u32 contexts, u32 seed; u32 CRC of all
// An index is never needed: one that is torn, or of other bytes than the journal's, is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/files/PendingFile.hpp"
#include "base/files/Sha256.hpp"
#include "query/Engine.hpp"

namespace stereosweep::results {

/// Where a record's payload lies; 72 bytes, so that 10^6 records fit easily.
struct JournalRecord {
  base::Digest key{};
  std::uint64_t block_index = 0;
  std::uint64_t offset = 0;  ///< of the payload
  std::uint32_t num_contexts = 0;
  std::uint32_t file = 0;
  std::uint64_t size = 0;
  std::uint32_t seed = 0;  ///< CRC of the record's head, where the payload's begins
};

struct JournalIndex {
  std::uint32_t header_checksum = 0;       ///< of the journal
  std::uint64_t covered = 0;               ///< bytes of the journal, to the end of a record
  std::uint32_t last_record_checksum = 0;  ///< the four bytes of the journal before that end
  query::EngineCounts cost;                ///< of all records
  std::vector<JournalRecord> records;      ///< in the journal's order; `file` is not kept
};

/// ATTEMPT.log -> ATTEMPT.index
std::filesystem::path index_of(const std::filesystem::path& journal);

/// Replaces the index of `journal`. Not synced: a torn one is ignored. Throws Error.
void write_index(const std::filesystem::path& journal, const JournalIndex& index,
                 base::PendingFile::Readers readers = base::PendingFile::Readers::owner);

/// Nothing where there is none that can be read whole. Whether it is that of the journal's bytes is for the caller.
std::optional<JournalIndex> read_index(const std::filesystem::path& journal);

}  // namespace stereosweep::results
