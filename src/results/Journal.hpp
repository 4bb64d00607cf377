// The journal: the truth of a run. Append-only, checksummed, one file per attempt under DIR/journal/; where a job has
// several stages, each has a folder of its own name there.
//   file   = "SSWJRNL1", u32 size, u32 version, job hash, settings, facts, attempt; u32 CRC
//   record = magic, u64 payload size, key, u64 block, u64 contexts, 4 u64 of cost, u32 CRC; payload, u32 CRC (zlib's,
//            chained)
// One file per attempt, because an attempt that was cut off from the network may still write while the next one runs.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/Bytes.hpp"
#include "base/files/Sha256.hpp"
#include "query/Engine.hpp"
#include "results/RawBlock.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::results {

// Where the records of one attempt's journal lie, in a file beside it, ATTEMPT.index: with it a start reads no payload.
//   "SSWINDEX", u32 version, u32 CRC of the journal's header, u64 covered, u32 checksum of the last record, u64 count;
//   that many JournalRecords as they lie in memory; u32 CRC of all
// An index is never needed: one that is torn, or of other bytes than the journal's, is ignored.

/// What a record is about. `num_contexts` is needed to read the payload (results::RawBlock); `cost` is what scoring it
/// took, and no part of its numbers.
struct BlockId {
  base::Digest key{};
  std::uint64_t block_index = 0;
  std::uint64_t num_contexts = 0;
  query::EngineCounts cost;
};

/// What a record's head says, and where its payload lies; 104 bytes, so that 10^6 records fit easily.
struct JournalRecord : BlockId {
  std::uint64_t offset = 0;  ///< of the payload
  std::uint64_t size = 0;    ///< of the payload
  std::uint32_t seed = 0;    ///< CRC of the record's head, where the payload's begins
  std::uint32_t file = 0;    ///< number of the attempt in a JournalStore
};

struct JournalIndex {
  std::uint32_t header_checksum = 0;       ///< of the journal
  std::uint64_t covered = 0;               ///< bytes of the journal, to the end of a record
  std::uint32_t last_record_checksum = 0;  ///< the four bytes of the journal before that end
  std::vector<JournalRecord> records;      ///< in the journal's order; `file` is 0
};

/// What all attempts of one run share, and who wrote this file.
struct JournalHeader {
  base::Digest job_hash{};
  std::string settings;  ///< JSON object of what else decides the bits: file hashes, dtype, threads, ...
  std::string facts;     ///< JSON object for provenance: software, hosts, number of ranks, ...
  std::string attempt;   ///< unique name: time and random digits
};

/// A record whose payload is not what was written, found when it is used.
class DamagedRecord : public base::Error {
 public:
  using Error::Error;
};

/// Journals that are read in less than a tenth of a second need no index.
constexpr std::uint64_t worth_an_index = std::uint64_t{64} << 20;

/// "20261121T045800Z-9f3c61d20b47ae58": sorts by time, unique without any coordination.
std::string make_attempt_name();

/// Whether a file has the name of an attempt's journal or of its index.
bool is_attempt_file(const std::filesystem::path& path);

/// One attempt's file, made by the first commit: an attempt that scores nothing leaves none.
/// Every failure is final: the object refuses further records, what was acknowledged stays valid.
class JournalWriter {
 public:
  /// Will be DIR/journal/[stage/]<attempt>.log.
  JournalWriter(const std::filesystem::path& run_directory, const JournalHeader& header, const std::string& stage = "");
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  /// Keeps a record in memory until the next commit.
  void stage(const BlockId& id, std::span<const std::byte> payload);
  /// Writes all staged records and syncs them: acknowledged when it returns. Throws Error with the system's cause.
  void commit();
  std::size_t staged_bytes() const { return staged_.bytes().size(); }
  /// After the last commit: writes the index of a journal of at least `least_bytes`. Throws nothing: a failure is
  /// logged, the journal can be read without.
  void write_index(std::uint64_t least_bytes = worth_an_index) const;

 private:
  void create();
  void write_fully(std::span<const std::byte> bytes);
  void sync();

  std::filesystem::path path_;
  mode_t mode_;  ///< journals of stages hold the corpus's sentences
  std::vector<std::byte> header_;
  std::shared_ptr<const int> file_;  ///< null: not made yet
  bool broken_ = false;
  base::ByteWriter staged_;
  JournalIndex index_;  ///< what is staged included
};

/// Where the journal of a stage lies; `stage` is empty where the job has one.
std::filesystem::path journal_directory(const std::filesystem::path& run_directory, const std::string& stage);

/// Takes the indexes of a stage's journals away: the next `JournalStore::open` looks at every payload.
void remove_indexes(const std::filesystem::path& run_directory, const std::string& stage);

/// All attempts of one run directory, read-only. Keeps the index in memory, never a payload.
class JournalStore {
 public:
  /// Reads every journal/[stage/]*.log, of what its index covers no payload. Cut tails are dropped silently; damage
  /// before a readable record goes to `damage()` and the reader goes on at the next intact record. Throws Error where
  /// two records of one block differ. Whoever may write there gives `least_bytes` (`worth_an_index`): journals of which
  /// as many had to be read get a new index.
  static JournalStore open(const std::filesystem::path& run_directory, const std::string& stage = "",
                           std::uint64_t least_bytes = std::numeric_limits<std::uint64_t>::max());
  /// Whether a journal of any stage holds a block, or is damaged and may hold one. Reads first records alone.
  /// Throws InputError for a journal of another version of this program.
  static bool holds_blocks(const std::filesystem::path& run_directory);
  /// One per readable attempt that holds a block, oldest first.
  const std::vector<JournalHeader>& attempts() const { return headers_; }
  /// Distinct blocks, by block index.
  const std::vector<JournalRecord>& records() const { return records_; }
  /// One line per damaged place: file, offset, bytes lost.
  const std::vector<std::string>& damage() const { return damage_; }
  std::uint64_t bytes() const { return bytes_; }
  /// What scoring all of `records()` took: the same whoever scored them, in however many attempts.
  const query::EngineCounts& cost() const { return cost_; }
  const JournalRecord* find_block(std::uint64_t block_index) const;
  const JournalRecord* find(const base::Digest& key) const;
  /// The payload. Throws DamagedRecord where its checksum does not match.
  std::vector<std::byte> read(const JournalRecord& record) const;
  /// A block's raw numbers; nothing: it is not scored. Throws as `read`, and base::Error where they do not fit.
  std::optional<RawBlock> read_block(const sweep::Block& block, const RawSchema& schema) const;

 private:
  struct File;
  JournalStore() = default;
  enum class Indexes { read, ignored };
  static JournalStore read_all(const std::filesystem::path& run_directory, const std::string& stage, Indexes indexes,
                               std::uint64_t least_bytes);
  void scan(std::shared_ptr<File> file, Indexes indexes, std::uint64_t least_bytes);
  void merge();

  std::vector<std::shared_ptr<const File>> files_;
  std::vector<JournalHeader> headers_;
  std::vector<JournalRecord> records_;
  mutable std::vector<std::uint32_t> by_key_;  ///< made at the first find()
  std::vector<std::string> damage_;
  query::EngineCounts cost_;
  std::uint64_t bytes_ = 0;
};

}  // namespace stereosweep::results
