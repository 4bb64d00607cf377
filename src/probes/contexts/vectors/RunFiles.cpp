#include <algorithm>

#include "base/Bytes.hpp"
#include "base/Error.hpp"
#include "base/Log.hpp"
#include "probes/contexts/vectors/ContextSample.hpp"
#include "results/Seal.hpp"

namespace stereosweep::probes::contexts {
namespace {
constexpr std::string_view source_magic = "stereosweep-source/1";
constexpr std::string_view words_magic = "stereosweep-words/1";
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

bool WordsFile::operator==(const WordsFile& other) const { return encode(*this) == encode(other); }

std::vector<std::byte> encode(const WordsFile& content) {
  base::ByteWriter out;
  out.text(words_magic).text(content.settings).number(content.dimension).plain(content.cost);
  out.number(std::uint64_t{content.words.size()});
  for (const auto& word : content.words) {
    out.text(word.word).number(word.found).number(word.stored).number(word.usable).plain(word.digest);
  }
  if (std::ranges::any_of(content.words, [](const auto& word) { return !word.frames.empty(); })) {
    for (const auto& word : content.words) {
      out.array(std::span(word.frames));
    }
  }
  return out.take();
}

WordsFile decode_words(std::span<const std::byte> bytes) {
  base::ByteReader in(bytes);
  if (in.text() != words_magic) {
    throw base::Error(base::describe("a list of words cannot be read", "another version of this program wrote it"));
  }
  WordsFile content;
  content.settings = in.text();
  content.dimension = in.number<std::uint64_t>();
  content.cost = in.plain<query::EngineCounts>();
  for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
    auto& word = content.words.emplace_back();
    word.word = in.text();
    word.found = in.number<std::uint64_t>();
    word.stored = in.number<std::uint64_t>();
    word.usable = in.number<std::uint64_t>();
    word.digest = in.plain<base::Digest>();
  }
  if (!in.rest().empty()) {
    for (auto& word : content.words) {
      word.frames = in.array<std::uint32_t>();
    }
  }
  return content;
}

void write_words(const std::filesystem::path& file, const WordsFile& content) {
  results::write_sealed(file, encode(content));
}

std::optional<WordsFile> read_words(const std::filesystem::path& file) {
  const auto bytes = results::read_sealed(file);
  return bytes ? std::optional(decode_words(*bytes)) : std::nullopt;
}

}  // namespace stereosweep::probes::contexts
