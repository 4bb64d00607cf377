// What was found of the wanted words in a corpus: counts, and a uniform sample of contexts of each word.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/text/Text.hpp"

namespace stereosweep::corpus {

/// One occurrence of a word.
struct Context {
  std::string sentence;           ///< the line, or the field of a JSON line, without its end; valid UTF-8, no NUL
  base::Span span;                ///< the occurrence, bytes of `sentence`
  std::uint64_t key = 0;          ///< pseudo-random; the smallest keys of a word are its sample
  std::string file;               ///< label: path below the listed directory, without .gz, .bz2 or .zst
  std::uint64_t line_offset = 0;  ///< of the line's first byte in the decompressed file
  bool operator==(const Context&) const = default;
};
/// Order of a sample: by key, then (keys of one value) file, line_offset, span.
inline bool comes_before(const Context& one, const Context& other) {
  return one.key != other.key ? one.key < other.key
                              : std::tie(one.file, one.line_offset, one.span.begin) <
                                    std::tie(other.file, other.line_offset, other.span.begin);
}

struct WordSample {
  std::string word;
  std::uint64_t occurrences = 0;  ///< in the whole corpus, whatever the sample holds of them
  std::vector<Context> contexts;  ///< in that order; at most `Sample::max_contexts`
  bool operator==(const WordSample&) const = default;
};

/// Why a line was left out.
enum class LineFault : std::uint8_t { invalid_text, too_long, broken_json, no_field };
constexpr std::size_t num_line_faults = 4;

struct BadLine {
  std::string file;
  std::uint64_t line_offset = 0;
  auto operator<=>(const BadLine&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes <=> for a 0
};
struct BadLines {
  static constexpr std::size_t most_listed = 5;
  std::uint64_t count = 0;
  std::vector<BadLine> first;  ///< the first `most_listed`, ascending by file and offset
  bool operator==(const BadLines&) const = default;
};

struct Sample {
  std::uint64_t identity = 0;  ///< of what was asked: options, seed, words, labels and sizes of the files
  std::uint64_t max_contexts = 0;
  std::vector<WordSample> words;  ///< in the order in which they were asked for
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  ///< decompressed
  std::uint64_t lines = 0;  ///< all, those left out included
  std::array<BadLines, num_line_faults> bad_lines;
  bool operator==(const Sample&) const = default;
};

/// Of two disjoint parts of one corpus: the sample of both. Associative and commutative.
/// Throws Error unless the parts have one identity.
Sample merge(Sample one, Sample other);

/// The sample as bytes.
std::vector<std::byte> encode(const Sample& sample);
/// Throws Error where the bytes are no such sample (lengths, order of keys, spans, text).
Sample decode_sample(std::span<const std::byte> bytes);

/// `context` with its sentence cut to the `words` words on each side, and its span moved along; 0: unchanged.
Context cut_to_window(Context context, std::int64_t words);

/// `context` with its sentence cut as the published code of guo2021 does it (generate_ebd_*.py, short_sen). Of nine or
/// more words (runs without white space): the first nine where fewer than four stand before the word, else the last
/// nine where fewer than four stand behind it, else four before it and three behind it, eight in all; one blank between
/// them. A shorter sentence stays as it is. A phrase counts as one word.
Context cut_as_guo2021(Context context);

/// `context` with its sentence cut to about `most` bytes, as many on each side of the word as there are, at white space
/// where there is some (else between characters). A word that is longer than that stays whole.
Context cut_to_size(Context context, std::size_t most);

}  // namespace stereosweep::corpus
