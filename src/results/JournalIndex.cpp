#include <cstring>
#include <string_view>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "results/Journal.hpp"

namespace stereosweep::results {
namespace {

constexpr std::string_view index_magic = "SSWINDEX";
constexpr std::uint32_t index_version = 1;
constexpr std::size_t index_record_size = sizeof(base::Digest) + 3 * sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t);

JournalIndex decode_index(base::ByteReader& in) {
  JournalIndex index;
  index.header_checksum = in.number<std::uint32_t>();
  index.covered = in.number<std::uint64_t>();
  index.last_record_checksum = in.number<std::uint32_t>();
  index.cost = in.plain<query::EngineCounts>();
  const auto count = in.number<std::uint64_t>();
  if (count != in.rest().size() / index_record_size || in.rest().size() % index_record_size != 0) {
    throw base::Error("its size is not that of its records");
  }
  index.records.resize(count);
  for (auto& record : index.records) {
    record.key = in.plain<base::Digest>();
    record.block_index = in.number<std::uint64_t>();
    record.offset = in.number<std::uint64_t>();
    record.size = in.number<std::uint64_t>();
    record.num_contexts = in.number<std::uint32_t>();
    record.seed = in.number<std::uint32_t>();
    if (record.offset > index.covered || record.size > index.covered - record.offset) {
      throw base::Error("a record lies behind its end");
    }
  }
  return index;
}

}  // namespace

std::filesystem::path index_of(const std::filesystem::path& journal) {
  auto path = journal;
  return path.replace_extension(".index");
}

void write_index(const std::filesystem::path& journal, const JournalIndex& index, base::PendingFile::Readers readers) {
  base::ByteWriter out;
  out.raw(std::as_bytes(std::span(index_magic))).number(index_version).number(index.header_checksum);
  out.number(index.covered).number(index.last_record_checksum).plain(index.cost);
  out.number(std::uint64_t{index.records.size()});
  for (const auto& record : index.records) {
    out.plain(record.key).number(record.block_index).number(record.offset).number(record.size);
    out.number(record.num_contexts).number(record.seed);
  }
  out.number(crc_of(out.bytes()));
  base::PendingFile pending(index_of(journal), readers);
  const auto bytes = out.bytes();
  pending.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  pending.show();
}

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
    base::ByteReader in(bytes);
    const auto begins_well =
        std::memcmp(in.take(index_magic.size()).data(), index_magic.data(), index_magic.size()) == 0;
    if (!begins_well || in.number<std::uint32_t>() != index_version || in.rest().size() < sizeof(std::uint32_t)) {
      return std::nullopt;
    }
    const auto covered = std::span(bytes).first(bytes.size() - sizeof(std::uint32_t));
    std::uint32_t stored = 0;
    std::memcpy(&stored, bytes.data() + covered.size(), sizeof(stored));
    if (stored != crc_of(covered)) {
      return std::nullopt;
    }
    base::ByteReader content(covered.subspan(index_magic.size() + sizeof(index_version)));
    return decode_index(content);
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

}  // namespace stereosweep::results
