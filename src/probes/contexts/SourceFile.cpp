#include "probes/contexts/SourceFile.hpp"

#include "base/Bytes.hpp"
#include "base/Error.hpp"
#include "base/Log.hpp"
#include "results/Seal.hpp"

namespace stereosweep::probes::contexts {
namespace {
constexpr std::string_view source_magic = "stereosweep-source/1";
}  // namespace

std::vector<std::byte> encode(const SourceFile& source) {
  base::ByteWriter out;
  out.text(source_magic).number(std::uint64_t{source.files.size()});
  for (const auto& file : source.files) {
    out.text(file.label).number(file.size).number(file.modified);
  }
  return out.raw(source.content).take();
}

SourceFile decode_source(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  if (in.text() != source_magic) {
    throw base::Error(base::describe("a list of contexts cannot be read", "another version of this program wrote it"));
  }
  SourceFile source;
  for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
    auto& file = source.files.emplace_back();
    file.label = in.text();
    file.size = in.number<std::uint64_t>();
    file.modified = in.number<std::int64_t>();
  }
  source.content.assign(in.rest().begin(), in.rest().end());
  return source;
}

std::optional<SourceFile> read_source_file(const std::filesystem::path& file) {
  const auto bytes = results::read_sealed(file);
  if (!bytes) {
    return std::nullopt;
  }
  try {
    return decode_source(*bytes);
  } catch (const base::Error& error) {
    base::log(base::LogLevel::warning, "'" + file.string() + "': " + error.what() + ": it is made anew");
    return std::nullopt;
  }
}

}  // namespace stereosweep::probes::contexts
