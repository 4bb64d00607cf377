#include "results/Journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <future>
#include <numeric>
#include <random>
#include <regex>
#include <string_view>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Packing.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/files/PendingFile.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/process/Processors.hpp"

namespace stereosweep::results {

// For base::pack: as files have them.
auto fields_of(base::Either<JournalHeader> auto& header) {
  return std::tie(header.job_hash, header.settings, header.facts, header.attempt);
}
auto fields_of(base::Either<JournalIndex> auto& index) {
  return std::tie(index.header_checksum, index.covered, index.last_record_checksum, index.records);
}
static_assert(std::has_unique_object_representations_v<JournalRecord>, "an index has no bytes that nobody sets");

namespace {

constexpr std::string_view file_magic = "SSWJRNL1";
constexpr std::string_view record_magic = "\xF5SSWrec\n";  // 0xF5 never occurs in UTF-8 text
constexpr std::uint32_t version = 3;                       // 3: the settings name build and libraries
constexpr std::size_t magic_size = 8;
constexpr std::size_t crc_size = sizeof(std::uint32_t);

/// Of a record: magic number, the payload's size, what it is about, checksum.
constexpr std::size_t head_size = magic_size + sizeof(std::uint64_t) + sizeof(BlockId) + crc_size;

constexpr std::size_t most_open = 64;     ///< attempts whose files stay open
constexpr std::size_t most_ahead = 4096;  ///< records whose payloads are checked side by side
constexpr std::size_t most_threads = 16;  ///< that do so: they are faster than any file system
constexpr std::size_t max_header = std::size_t{1} << 24;
static_assert(file_magic.size() == magic_size && record_magic.size() == magic_size);

/// zlib's CRC-32 of `bytes`, going on from `seed`.
std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t seed = 0) {
  return static_cast<std::uint32_t>(
      ::crc32_z(seed, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view action, int cause) {
  const auto failure = base::explain_write_failure(path, cause);
  base::fail("cannot " + std::string(action) + " the journal " + path.string(), failure.why,
             (failure.advice.empty() ? "run the same command again" : failure.advice) + ": finished blocks are kept");
}

std::vector<std::byte> encode_header(const JournalHeader& header) {
  base::ByteWriter content;
  base::pack(content.number(version), header);
  base::ByteWriter out;
  out.raw(std::as_bytes(std::span(file_magic))).number(static_cast<std::uint32_t>(content.bytes().size()));
  out.raw(content.bytes());
  out.number(crc_of(out.bytes()));
  return out.take();
}

/// Header and where the records begin; nothing if the file is too short for it (killed while it was created).
struct ReadHeader {
  JournalHeader header;
  std::uint64_t end = 0;
  std::uint32_t checksum = 0;
};

JournalHeader decode_header(std::span<const std::byte> content, const std::filesystem::path& path) {
  base::ByteReader in(content);
  const auto found = in.number<std::uint32_t>();
  base::refuse_if(
      found != version,
      path.string() + " was written by " + (found < version ? "an older" : "a newer") + " version of this program",
      "journal format " + std::to_string(found) + ", not " + std::to_string(version),
      "Start anew with --overwrite, give another --output, or go on with the program that wrote it; results that are "
      "complete can be read as they are.");
  JournalHeader header;
  base::unpack(in, header);
  return header;
}

std::uint32_t checksum_at(const auto& file, std::uint64_t offset) {
  std::uint32_t stored = 0;
  file.read(offset, std::as_writable_bytes(std::span(&stored, 1)));
  return stored;
}

/// What stands before the checksum at the end; nothing: it is that of other bytes.
std::optional<std::span<const std::byte>> before_checksum(std::span<const std::byte> bytes) {
  const auto content = bytes.first(bytes.size() - std::min(bytes.size(), crc_size));
  const bool is_whole = base::ByteReader(bytes.subspan(content.size())).number<std::uint32_t>() == crc_of(content);
  return is_whole ? std::optional(content) : std::nullopt;
}

enum class RecordState { intact, damaged, cut };

struct FoundRecord {
  RecordState state = RecordState::cut;
  JournalRecord record;
};

std::uint64_t end_of(const JournalRecord& record) { return record.offset + record.size + crc_size; }

/// What a record's head says; whether its payload is intact is not looked at.
FoundRecord read_head(const auto& file, std::uint64_t offset) {
  if (file.size() - offset < head_size) {
    return {};
  }
  std::array<std::byte, head_size> head;
  file.read(offset, head);
  const auto covered = std::span(head).first(head_size - crc_size);
  FoundRecord found{RecordState::damaged, {}};
  auto& record = found.record;
  base::ByteReader in(head);
  if (std::memcmp(in.take(magic_size).data(), record_magic.data(), magic_size) != 0) {
    return found;
  }
  record.size = in.number<std::uint64_t>();
  static_cast<BlockId&>(record) = in.plain<BlockId>();
  record.seed = in.number<std::uint32_t>();
  record.offset = offset + head_size;
  if (record.seed != crc_of(covered)) {
    return found;
  }
  const auto left = file.size() - record.offset;
  found.state = left < crc_size || record.size > left - crc_size ? RecordState::cut : RecordState::intact;
  return found;
}

/// At most `most` records that lie end to end from `offset` on; one that is not intact is the last. Their payloads are
/// checked side by side on the processors of this thread, since one thread reads 4 GB in 2 s where they are in memory
/// and in far more where a file system has to send them.
std::vector<FoundRecord> read_records(const auto& file, std::uint64_t offset, std::size_t most) {
  std::vector<FoundRecord> found;
  while (found.size() < most && offset < file.size() && (found.empty() || found.back().state == RecordState::intact)) {
    found.push_back(read_head(file, offset));
    offset = end_of(found.back().record);
  }
  std::atomic<std::size_t> next = 0;
  const auto check = [&] {
    for (auto index = next++; index < found.size(); index = next++) {
      auto& [state, record] = found[index];
      if (state == RecordState::intact &&
          checksum_at(file, record.offset + record.size) != file.crc(record.offset, record.size, record.seed)) {
        state = RecordState::damaged;
      }
    }
  };
  std::vector<std::future<void>> threads;
  while (threads.size() + 1 < std::min({std::size_t{base::num_own_processors()}, most_threads, found.size()})) {
    threads.push_back(std::async(std::launch::async | std::launch::deferred, check));  // deferred: none can be started
  }
  check();
  std::ranges::for_each(threads, &std::future<void>::get);
  const auto bad = std::ranges::find_if(found, [](const auto& one) { return one.state != RecordState::intact; });
  found.resize(std::min<std::size_t>(bad - found.begin() + 1, found.size()));
  return found;
}

ReadHeader read_header(const auto& file) {
  constexpr std::size_t fixed = magic_size + sizeof(std::uint32_t);
  std::array<std::byte, fixed> head{};
  if (file.size() < fixed + crc_size) {
    return {};
  }
  file.read(0, head);
  base::ByteReader in(head);
  base::fail_if(std::memcmp(in.take(magic_size).data(), file_magic.data(), magic_size) != 0,
                "its first bytes are no journal's");
  const auto length = in.number<std::uint32_t>();
  base::fail_if(length > max_header, "its header is damaged");
  if (length > file.size() - fixed - crc_size) {
    return {};
  }
  std::vector<std::byte> bytes(fixed + length + crc_size);
  file.read(0, bytes);
  const auto covered = before_checksum(bytes);
  base::fail_if(!covered, "its header is damaged");
  return {decode_header(covered->subspan(fixed), file.path), bytes.size(), crc_of(*covered)};
}

constexpr std::string_view index_magic = "SSWINDEX";
constexpr std::uint32_t index_version = 2;  // 2: with the cost of each record

/// ATTEMPT.log -> ATTEMPT.index
std::filesystem::path index_of(const std::filesystem::path& journal) {
  auto path = journal;
  return path.replace_extension(".index");
}

/// Replaces the index of `journal`. Not synced: a torn one is ignored. Throws nothing: a failure is logged.
void write_index_of(const std::filesystem::path& journal, const JournalIndex& index) {
  base::ByteWriter out;
  base::pack(out.raw(std::as_bytes(std::span(index_magic))).number(index_version), index);
  out.number(crc_of(out.bytes()));
  const auto bytes = out.bytes();
  try {
    base::PendingFile pending(index_of(journal), base::PendingFile::Readers::owner);
    pending.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    pending.show();
  } catch (const base::Error& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": the next start reads the journal instead");
  }
}

/// Nothing where there is none that can be read whole. Whether it is that of the journal's bytes is for the caller.
std::optional<JournalIndex> read_index(const std::filesystem::path& journal) {
  const auto path = index_of(journal);
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) || std::filesystem::is_symlink(path)) {
    return std::nullopt;
  }
  try {
    const auto file = base::open_file(path);
    std::vector<std::byte> bytes(file.size());
    file.read(0, bytes);
    base::ByteReader in(before_checksum(bytes).value_or(std::span<const std::byte>()));
    const auto begins_well =
        std::memcmp(in.take(index_magic.size()).data(), index_magic.data(), index_magic.size()) == 0;
    if (!begins_well || in.number<std::uint32_t>() != index_version) {
      return std::nullopt;
    }
    JournalIndex index;
    base::unpack(in, index);
    const bool fits = in.rest().empty() && std::ranges::all_of(index.records, [&](const JournalRecord& record) {
                        return record.offset <= index.covered && record.size <= index.covered - record.offset;
                      });
    return fits ? std::optional(std::move(index)) : std::nullopt;
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

/// The index of these bytes and of no others.
std::optional<JournalIndex> index_of_file(const auto& file, const ReadHeader& start) {
  auto index = read_index(file.path);
  if (!index || index->header_checksum != start.checksum || index->covered > file.size() ||
      index->covered < start.end + crc_size) {
    return std::nullopt;
  }
  return checksum_at(file, index->covered - crc_size) == index->last_record_checksum ? index : std::nullopt;
}

}  // namespace

std::string make_attempt_name() {
  auto name = base::utc_now();
  std::erase_if(name, [](char c) { return c == '-' || c == ':'; });
  std::array<char, 32> digits{};
  std::random_device random;
  std::snprintf(digits.data(), digits.size(), "-%08x%08x", random(), random());
  return name + digits.data();
}

bool is_attempt_file(const std::filesystem::path& path) {
  static const std::regex pattern(R"(\d{8}T\d{6}Z-[0-9a-f]{16}\.(log|index))");
  return std::regex_match(path.filename().string(), pattern);
}

std::filesystem::path journal_directory(const std::filesystem::path& run_directory, const std::string& stage) {
  return stage.empty() ? run_directory / "journal" : run_directory / "journal" / stage;
}

JournalWriter::JournalWriter(const std::filesystem::path& run_directory, const JournalHeader& header,
                             const std::string& stage)
    : path_(journal_directory(run_directory, stage) / (header.attempt + ".log")),
      mode_(stage.empty() ? 0644 : 0600),
      header_(encode_header(header)) {
  std::memcpy(&index_.header_checksum, header_.data() + header_.size() - crc_size, crc_size);
  index_.covered = header_.size();
}

/// Durable with the first sync of the file itself; the lease has made `journal/` before, and the job that was written
/// after it keeps its name.
void JournalWriter::create() {
  std::error_code status;
  std::filesystem::create_directories(path_.parent_path(), status);
  if (status) {
    fail(path_, "create", status.value());
  }
  file_ = base::open_descriptor(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, mode_);
  if (*file_ < 0) {
    fail(path_, "create", errno);
  }
  write_fully(header_);
  base::sync_directory(path_.parent_path());
  base::sync_directory(path_.parent_path().parent_path());
}

void JournalWriter::stage(const BlockId& id, std::span<const std::byte> payload) {
  base::ByteWriter head;
  head.raw(std::as_bytes(std::span(record_magic))).number(std::uint64_t{payload.size()}).plain(id);
  const auto head_crc = crc_of(head.bytes());
  head.number(head_crc);
  index_.last_record_checksum = crc_of(payload, head_crc);
  staged_.raw(head.bytes()).raw(payload).number(index_.last_record_checksum);
  index_.records.push_back({id, index_.covered + head_size, payload.size(), head_crc});
  index_.covered += head_size + payload.size() + crc_size;
}

void JournalWriter::write_index(std::uint64_t least_bytes) const {
  if (file_ && !broken_ && staged_bytes() == 0 && index_.covered >= least_bytes) {
    write_index_of(path_, index_);
  }
}

void JournalWriter::commit() {
  STEREOSWEEP_ASSERT(!broken_, "a failed journal takes no more records");
  if (staged_bytes() == 0) {
    return;
  }
  broken_ = true;  // until proven otherwise: after one failed call nothing is known about the file's end
  if (!file_) {
    create();
  }
  write_fully(staged_.bytes());
  sync();
  struct stat info {};
  base::fail_if(::fstat(*file_, &info) == 0 && info.st_nlink == 0,
                "the journal " + path_.string() + " was deleted while the run went on", "its blocks are lost",
                "run the same command again");
  broken_ = false;
  staged_ = {};
}

void JournalWriter::write_fully(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const int fault = base::inject_fault("journal_write");
    if (fault > 0) {
      fail(path_, "write", fault);
    }
    const auto wanted = fault == base::short_write ? (bytes.size() + 1) / 2 : bytes.size();
    const auto written = ::write(*file_, bytes.data(), wanted);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      fail(path_, "write", written < 0 ? errno : EIO);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void JournalWriter::sync() {
  const int fault = base::inject_fault("journal_sync");
  if (fault > 0 || ::fdatasync(*file_) != 0) {
    fail(path_, "sync", fault > 0 ? fault : errno);  // a failed sync may have dropped pages: never try again
  }
}

/// One attempt's bytes. A run of a thousand attempts would use up a process's descriptors, so not all stay open.
struct JournalStore::File {
  explicit File(const std::filesystem::path& where) : path(where), bytes(open(where)), num_bytes(bytes->size()) {}
  std::uint64_t size() const { return num_bytes; }
  void read(std::uint64_t offset, std::span<std::byte> out) const { (bytes ? *bytes : open(path)).read(offset, out); }
  /// It is opened for each reading from now on.
  void close() { bytes.reset(); }

  std::uint32_t crc(std::uint64_t offset, std::uint64_t length, std::uint32_t seed) const {
    std::vector<std::byte> window(std::min<std::uint64_t>(length, window_size));
    while (length > 0) {
      const auto part = std::span(window).first(std::min<std::uint64_t>(length, window.size()));
      read(offset, part);
      seed = crc_of(part, seed);
      offset += part.size();
      length -= part.size();
    }
    return seed;
  }

  /// Offset of the next record magic at or after `from`; the end if there is none.
  std::uint64_t find_magic(std::uint64_t from) const {
    std::vector<std::byte> window(std::min(size() - from, window_size));
    while (from + magic_size <= size()) {
      const auto part = std::span(window).first(std::min<std::uint64_t>(size() - from, window.size()));
      read(from, part);
      const std::string_view text(reinterpret_cast<const char*>(part.data()), part.size());
      const auto found = text.find(record_magic);
      if (found != std::string_view::npos) {
        return from + found;
      }
      from += part.size() - (magic_size - 1);  // a magic may lie across the border
    }
    return size();
  }

  static base::SharedBytes open(const std::filesystem::path& where) {
    try {
      if (std::filesystem::is_symlink(where)) {
        throw base::InputError("it is a link");
      }
      return base::open_file(where);
    } catch (const base::InputError& error) {  // no fault of the job
      base::fail("cannot read the journal " + where.string(), error.what());
    }
  }

  static constexpr std::uint64_t window_size = 1 << 18;
  std::filesystem::path path;
  std::optional<base::SharedBytes> bytes;
  std::uint64_t num_bytes;
};

bool JournalStore::holds_blocks(const std::filesystem::path& run_directory) {
  const auto may_hold_one = [](const std::filesystem::path& path) {
    try {
      const File file(path);
      const auto start = read_header(file);
      const auto first = start.end == 0 ? std::vector<FoundRecord>() : read_records(file, start.end, 1);
      return !first.empty() && first.front().state != RecordState::cut;
    } catch (const base::InputError&) {
      throw;
    } catch (const base::Error&) {
      return true;
    }
  };
  std::error_code status;
  return std::ranges::any_of(base::tree_of(run_directory / "journal", status), [&](const std::filesystem::path& path) {
    return path.extension() == ".log" && may_hold_one(path);
  });
}

JournalStore JournalStore::open(const std::filesystem::path& run_directory, const std::string& stage,
                                std::uint64_t least_bytes) {
  try {
    return read_all(run_directory, stage, Indexes::read, least_bytes);
  } catch (const DamagedRecord&) {  // one of two records of a block: reading on tells which of them is intact
    return read_all(run_directory, stage, Indexes::ignored, least_bytes);
  }
}

void remove_indexes(const std::filesystem::path& run_directory, const std::string& stage) {
  for (const auto& entry : std::filesystem::directory_iterator(journal_directory(run_directory, stage))) {
    if (entry.path().extension() == ".log" && read_index(entry.path())) {
      std::filesystem::remove(index_of(entry.path()));
    }
  }
}

JournalStore JournalStore::read_all(const std::filesystem::path& run_directory, const std::string& stage,
                                    Indexes indexes, std::uint64_t least_bytes) {
  const auto directory = journal_directory(run_directory, stage);
  std::error_code status;
  auto paths = base::entries_of(directory, status);
  std::erase_if(paths, [](const std::filesystem::path& path) { return path.extension() != ".log"; });
  base::fail_if(status && status != std::errc::no_such_file_or_directory,
                "cannot read the journal " + directory.string(), status.message());
  std::ranges::sort(paths);
  JournalStore store;
  for (const auto& path : paths) {
    store.scan(std::make_shared<File>(path), indexes, least_bytes);
  }
  store.merge();
  return store;
}

void JournalStore::scan(std::shared_ptr<File> file, Indexes indexes, std::uint64_t least_bytes) {
  bytes_ += file->size();
  ReadHeader start;
  try {
    start = read_header(*file);
  } catch (const base::InputError&) {
    throw;
  } catch (const base::Error& error) {
    damage_.push_back(file->path.string() + ": ignored (" + error.what() + "); its blocks are computed again");
    return;
  }
  if (start.end == 0) {
    return;
  }
  const auto known = records_.size();
  const auto num_damaged = damage_.size();
  auto index = indexes == Indexes::read ? index_of_file(*file, start) : std::nullopt;
  if (!index) {
    index.emplace(JournalIndex{start.checksum, start.end, 0, {}});
  }
  records_.insert(records_.end(), index->records.begin(), index->records.end());
  std::uint64_t position = index->covered;
  std::uint64_t intact_until = position;
  const auto report = [&](std::uint64_t until) {
    damage_.push_back(file->path.string() + ": bytes " + std::to_string(intact_until) + " to " + std::to_string(until) +
                      " are damaged; their blocks are computed again");
  };
  auto state = RecordState::intact;
  std::size_t ahead = 1;
  while (position < file->size() && state != RecordState::cut) {
    for (const auto& [found, record] : read_records(*file, position, ahead)) {
      state = found;
      if (state == RecordState::intact) {
        if (position != intact_until) {
          report(position);
        }
        records_.push_back(record);
        position = intact_until = end_of(record);
      } else if (state == RecordState::damaged) {
        position = file->find_magic(position + 1);
      }
    }
    // Behind damage one by one again: what was checked ahead is checked anew, and never more than was intact before.
    ahead = state == RecordState::intact ? std::min(2 * ahead, most_ahead) : 1;
  }
  if (position != intact_until) {
    report(file->size());
  }
  if (records_.size() == known) {  // a header alone says nothing about any number
    return;
  }
  const auto found = std::span(records_).subspan(known);
  if (intact_until - index->covered >= least_bytes && damage_.size() == num_damaged) {
    index->covered = intact_until;
    index->records.assign(found.begin(), found.end());
    index->last_record_checksum = checksum_at(*file, intact_until - crc_size);
    write_index_of(file->path, *index);
  }
  for (auto& record : found) {
    record.file = static_cast<std::uint32_t>(files_.size());
  }
  headers_.push_back(start.header);
  if (files_.size() >= most_open) {
    file->close();
  }
  files_.push_back(std::move(file));
}

void JournalStore::merge() {
  std::ranges::stable_sort(records_, {}, &JournalRecord::block_index);
  const auto same = [this](const JournalRecord& first, const JournalRecord& second) {
    if (first.block_index != second.block_index) {
      return false;
    }
    base::fail_if(first.key != second.key || first.size != second.size || read(first) != read(second),
                  "two attempts hold different numbers for block " + std::to_string(first.block_index),
                  files_[first.file]->path.string() + " and " + files_[second.file]->path.string() +
                      "; other hardware or libraries give other last bits",
                  "finish a run on one kind of device, or start anew with --overwrite");
    return true;
  };
  records_.erase(std::unique(records_.begin(), records_.end(), same), records_.end());
  records_.shrink_to_fit();
  for (const auto& record : records_) {
    cost_ += record.cost;
  }
}

const JournalRecord* JournalStore::find_block(std::uint64_t block_index) const {
  const auto it = std::ranges::lower_bound(records_, block_index, {}, &JournalRecord::block_index);
  return it == records_.end() || it->block_index != block_index ? nullptr : &*it;
}

const JournalRecord* JournalStore::find(const base::Digest& key) const {
  const auto key_of = [this](std::uint32_t index) -> const base::Digest& { return records_[index].key; };
  if (by_key_.size() != records_.size()) {
    by_key_.resize(records_.size());
    std::iota(by_key_.begin(), by_key_.end(), 0U);
    std::ranges::sort(by_key_, {}, key_of);
  }
  const auto it = std::ranges::lower_bound(by_key_, key, {}, key_of);
  return it == by_key_.end() || key_of(*it) != key ? nullptr : &records_[*it];
}

std::vector<std::byte> JournalStore::read(const JournalRecord& record) const {
  const auto& file = *files_[record.file];
  std::vector<std::byte> payload(record.size);
  file.read(record.offset, payload);
  if (checksum_at(file, record.offset + record.size) != crc_of(payload, record.seed)) {
    throw DamagedRecord(base::describe("block " + std::to_string(record.block_index) + " is damaged in the journal " +
                                           file.path.string() + " at byte " + std::to_string(record.offset),
                                       "its checksum was right when it was written"));
  }
  return payload;
}

std::optional<RawBlock> JournalStore::read_block(const sweep::Block& block, const RawSchema& schema) const {
  const auto* record = find_block(block.index);
  if (record == nullptr) {
    return std::nullopt;
  }
  const auto payload = read(*record);
  base::ByteReader in(payload);
  return RawBlock::read(in, schema, block.num_contexts);
}

}  // namespace stereosweep::results
