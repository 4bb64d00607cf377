#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "base/Bytes.hpp"
#include "base/Error.hpp"
#include "results/Journal.hpp"
#include "results/JournalFormat.hpp"

namespace stereosweep::results {
namespace format = journal_format;

/// One attempt's bytes, opened once.
struct JournalStore::File {
  explicit File(const std::filesystem::path& where)
      : path(where),
        handle(::open(where.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {  // a FIFO must not block us
    struct stat info {};
    const bool known = handle >= 0 && ::fstat(handle, &info) == 0;
    if (!known || !S_ISREG(info.st_mode)) {
      const std::string cause = known ? "it is no regular file" : std::strerror(errno);
      if (handle >= 0) {
        ::close(handle);
      }
      throw base::Error(base::describe("cannot read the journal " + path.string(), cause));
    }
    size = static_cast<std::uint64_t>(info.st_size);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { ::close(handle); }

  void read(std::uint64_t offset, std::span<std::byte> out) const {
    while (!out.empty()) {
      const auto got = ::pread(handle, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) {
        throw base::Error(base::describe("cannot read the journal " + path.string(),
                                         got < 0 ? std::strerror(errno) : "it shrank meanwhile"));
      }
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }

  std::uint32_t crc(std::uint64_t offset, std::uint64_t length, std::uint32_t seed) const {
    std::vector<std::byte> window(std::min<std::uint64_t>(length, window_size));
    while (length > 0) {
      const auto part = std::span(window).first(std::min<std::uint64_t>(length, window.size()));
      read(offset, part);
      seed = format::crc(part, seed);
      offset += part.size();
      length -= part.size();
    }
    return seed;
  }

  /// Offset of the next record magic at or after `from`; `size` if there is none.
  std::uint64_t find_magic(std::uint64_t from) const {
    std::vector<std::byte> window(window_size);
    while (from + format::magic_size <= size) {
      const auto part = std::span(window).first(std::min<std::uint64_t>(size - from, window.size()));
      read(from, part);
      const std::string_view text(reinterpret_cast<const char*>(part.data()), part.size());
      const auto found = text.find(format::record_magic);
      if (found != std::string_view::npos) {
        return from + found;
      }
      from += part.size() - (format::magic_size - 1);  // a magic may lie across the border
    }
    return size;
  }

  static constexpr std::uint64_t window_size = 1 << 20;
  std::filesystem::path path;
  int handle = -1;
  std::uint64_t size = 0;
};

namespace {

/// Header and where the records begin; nothing if the file is too short for it (killed while it was created).
struct ReadHeader {
  JournalHeader header;
  std::uint64_t end = 0;
};

JournalHeader decode_header(std::span<const std::byte> content, const std::filesystem::path& path) {
  base::ByteReader in(content);
  const auto found = in.number<std::uint32_t>();
  if (found != format::version) {
    throw base::InputError(base::describe(
        path.string() + " was written by " + (found < format::version ? "an older" : "a newer") +
            " version of this program",
        "journal format " + std::to_string(found) + ", not " + std::to_string(format::version),
        "Start anew with --overwrite, give another --output, or go on with the program that wrote it; results that are "
        "complete can be read as they are."));
  }
  JournalHeader header;
  const auto hash = in.take(header.job_hash.size());
  std::memcpy(header.job_hash.data(), hash.data(), hash.size());
  header.settings = in.text();
  header.facts = in.text();
  header.attempt = in.text();
  return header;
}

query::EngineCounts decode_cost(base::ByteReader& in) {
  query::EngineCounts cost;
  cost.queries = in.number<std::uint64_t>();
  cost.distinct_sequences = in.number<std::uint64_t>();
  cost.distinct_tokens = in.number<std::uint64_t>();
  cost.head_rows = in.number<std::uint64_t>();
  return cost;
}

enum class RecordState { intact, damaged, cut };

template <class File>
RecordState read_record(const File& file, std::uint64_t offset, JournalRecord& record, query::EngineCounts& cost) {
  if (file.size - offset < format::head_size) {
    return RecordState::cut;
  }
  std::array<std::byte, format::head_size> head;
  file.read(offset, head);
  const auto covered = std::span(head).first(format::head_size - format::crc_size);
  base::ByteReader in(head);
  if (std::memcmp(in.take(format::magic_size).data(), format::record_magic.data(), format::magic_size) != 0) {
    return RecordState::damaged;
  }
  record.size = in.number<std::uint64_t>();
  std::memcpy(record.key.data(), in.take(record.key.size()).data(), record.key.size());
  record.block_index = in.number<std::uint64_t>();
  record.num_contexts = static_cast<std::uint32_t>(in.number<std::uint64_t>());
  cost = decode_cost(in);
  record.seed = in.number<std::uint32_t>();
  record.offset = offset + format::head_size;
  if (record.seed != format::crc(covered)) {
    return RecordState::damaged;
  }
  const auto left = file.size - record.offset;
  if (left < format::crc_size || record.size > left - format::crc_size) {
    return RecordState::cut;
  }
  std::uint32_t stored = 0;
  file.read(record.offset + record.size, std::as_writable_bytes(std::span(&stored, 1)));
  return stored == file.crc(record.offset, record.size, record.seed) ? RecordState::intact : RecordState::damaged;
}

template <class File>
ReadHeader read_header(const File& file) {
  constexpr std::size_t fixed = format::magic_size + sizeof(std::uint32_t);
  std::array<std::byte, fixed> head{};
  if (file.size < fixed + format::crc_size) {
    return {};
  }
  file.read(0, head);
  base::ByteReader in(head);
  if (std::memcmp(in.take(format::magic_size).data(), format::file_magic.data(), format::magic_size) != 0) {
    throw base::Error("its first bytes are no journal's");
  }
  const auto length = in.number<std::uint32_t>();
  if (length > format::max_header) {
    throw base::Error("its header is damaged");
  }
  if (length > file.size - fixed - format::crc_size) {
    return {};
  }
  std::vector<std::byte> bytes(fixed + length + format::crc_size);
  file.read(0, bytes);
  const auto covered = std::span(bytes).first(fixed + length);
  std::uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + covered.size(), sizeof(stored));
  if (stored != format::crc(covered)) {
    throw base::Error("its header is damaged");
  }
  return {decode_header(covered.subspan(fixed), file.path), bytes.size()};
}

}  // namespace

std::filesystem::path journal_directory(const std::filesystem::path& run_directory, const std::string& stage) {
  return stage.empty() ? run_directory / "journal" : run_directory / "journal" / stage;
}

bool JournalStore::holds_blocks(const std::filesystem::path& run_directory) {
  const auto may_hold_one = [](const std::filesystem::path& path) {
    try {
      const File file(path);
      const auto start = read_header(file);
      JournalRecord record;
      query::EngineCounts cost;
      return start.end != 0 && read_record(file, start.end, record, cost) != RecordState::cut;
    } catch (const base::InputError&) {
      throw;
    } catch (const base::Error&) {
      return true;
    }
  };
  std::error_code status;
  std::filesystem::recursive_directory_iterator at(run_directory / "journal", status);
  for (; !status && at != std::filesystem::recursive_directory_iterator(); at.increment(status)) {
    if (at->path().extension() == ".log" && may_hold_one(at->path())) {
      return true;
    }
  }
  return false;
}

JournalStore JournalStore::open(const std::filesystem::path& run_directory, const std::string& stage) {
  const auto directory = journal_directory(run_directory, stage);
  std::vector<std::filesystem::path> paths;
  std::error_code status;
  std::filesystem::directory_iterator at(directory, status);
  for (; !status && at != std::filesystem::directory_iterator(); at.increment(status)) {
    if (at->path().extension() == ".log") {
      paths.push_back(at->path());
    }
  }
  if (status && status != std::errc::no_such_file_or_directory) {
    throw base::Error(base::describe("cannot read the journal " + directory.string(), status.message()));
  }
  std::ranges::sort(paths);
  JournalStore store;
  for (const auto& path : paths) {
    store.scan(std::make_shared<const File>(path));
  }
  store.merge();
  return store;
}

void JournalStore::scan(std::shared_ptr<const File> file) {
  bytes_ += file->size;
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
  const auto number = static_cast<std::uint32_t>(files_.size());
  const auto known = records_.size();
  std::uint64_t position = start.end;
  std::uint64_t intact_until = position;
  const auto report = [&](std::uint64_t until) {
    damage_.push_back(file->path.string() + ": bytes " + std::to_string(intact_until) + " to " + std::to_string(until) +
                      " are damaged; their blocks are computed again");
  };
  auto state = RecordState::intact;
  while (position < file->size && state != RecordState::cut) {
    JournalRecord record;
    query::EngineCounts cost;
    state = read_record(*file, position, record, cost);
    if (state == RecordState::intact) {
      if (position != intact_until) {
        report(position);
      }
      record.file = number;
      records_.push_back(record);
      cost_ += cost;
      position = intact_until = record.offset + record.size + format::crc_size;
    } else if (state == RecordState::damaged) {
      position = file->find_magic(position + 1);
    }
  }
  if (position != intact_until) {
    report(file->size);
  }
  if (records_.size() > known) {  // a header alone says nothing about any number
    headers_.push_back(start.header);
    files_.push_back(std::move(file));
  }
}

void JournalStore::merge() {
  std::ranges::stable_sort(records_, {}, &JournalRecord::block_index);
  const auto same = [this](const JournalRecord& first, const JournalRecord& second) {
    if (first.block_index != second.block_index) {
      return false;
    }
    if (first.key != second.key || first.size != second.size || read(first) != read(second)) {
      throw base::Error(
          base::describe("two attempts hold different numbers for block " + std::to_string(first.block_index),
                         files_[first.file]->path.string() + " and " + files_[second.file]->path.string() +
                             "; other hardware or libraries give other last bits",
                         "finish a run on one kind of device, or start anew with --overwrite"));
    }
    cost_ -= cost(second);
    return true;
  };
  records_.erase(std::unique(records_.begin(), records_.end(), same), records_.end());
  records_.shrink_to_fit();
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

query::EngineCounts JournalStore::cost(const JournalRecord& record) const {
  std::array<std::byte, format::cost_size> bytes;
  files_[record.file]->read(record.offset - format::crc_size - format::cost_size, bytes);
  base::ByteReader in(bytes);
  return decode_cost(in);
}

std::vector<std::byte> JournalStore::read(const JournalRecord& record) const {
  const auto& file = *files_[record.file];
  std::vector<std::byte> payload(record.size);
  file.read(record.offset, payload);
  std::uint32_t stored = 0;
  file.read(record.offset + record.size, std::as_writable_bytes(std::span(&stored, 1)));
  if (stored != format::crc(payload, record.seed)) {
    throw base::Error(
        base::describe("the journal " + file.path.string() + " changed at byte " + std::to_string(record.offset),
                       "its checksum was right when it was opened"));
  }
  return payload;
}

}  // namespace stereosweep::results
