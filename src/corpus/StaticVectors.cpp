#include "corpus/StaticVectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <unordered_map>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "corpus/ByteStream.hpp"
#include "corpus/Characters.hpp"

namespace stereosweep::corpus {
namespace {

using VectorFormat = StaticVectors::Format;

constexpr std::int64_t max_dimension = 65536;
constexpr std::size_t max_word_bytes = 4096;
constexpr std::size_t most_lines_for_dimension = 100;

struct Header {
  std::uint64_t rows = 0;
  std::int64_t dimension = 0;
};

std::optional<Header> parse_header(std::string_view line) {
  const auto fields = base::split(base::trim(line), ' ');
  const auto rows = fields.size() == 2 ? base::parse_integer(fields[0]) : std::nullopt;
  const auto dimension = fields.size() == 2 ? base::parse_integer(fields[1]) : std::nullopt;
  if (!rows || !dimension || *rows < 0 || *dimension < 1 || *dimension > max_dimension) {
    return std::nullopt;
  }
  return Header{static_cast<std::uint64_t>(*rows), *dimension};
}

/// Without a byte order mark.
std::string_view without_mark(std::string_view text) { return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0); }

// The vectors that are asked for, as they turn up.
class Found {
 public:
  Found(const StaticVectors& source, std::span<const std::string> words) : source_(source) {
    for (const auto& word : words) {
      places_.emplace(comparable(word, Case::ignore, Accents::ignore), rows_.size());
      rows_.push_back({{word, {}}});
    }
  }
  /// Takes the vector that `read` returns for every word that this row suits better than those before it.
  template <class Read>
  void offer(std::string_view word, const Read& read) {
    if (num_rows_++ == 0) {
      first_word_ = word;
    }
    // putting marks in order takes the square of their number: no wanted word is longer
    const auto key = comparable(word.substr(0, max_word_bytes), Case::ignore, Accents::ignore);
    const auto [begin, end] = places_.equal_range(key);
    for (auto place = begin; place != end; ++place) {
      auto& row = rows_[place->second];
      if (const auto likeness = likeness_of(word, row.word); likeness > row.likeness) {
        row.likeness = likeness;
        row.vector = likeness >= Likeness::alike ? read() : std::vector<float>();
      }
    }
  }
  std::uint64_t num_rows() const { return num_rows_; }
  StaticTable take(std::int64_t dimension) const {
    StaticTable table{dimension, num_rows_, {rows_.begin(), rows_.end()}, {}, first_word_};
    std::vector<std::string> remarks;
    for (auto& [word, vector] : table.words) {
      if (!vector.empty() && std::ranges::all_of(vector, [](float number) { return number == 0; })) {
        remarks.push_back("the vector of " + base::json_quote(word) + " is all zeros, which has no direction");
        vector.clear();
      }
    }
    for (const auto& [likeness, keys] : {std::pair(Likeness::other_case, "vectors.case: ignore"),
                                         std::pair(Likeness::other_accents, "vectors.accents: ignore"),
                                         std::pair(Likeness::other_case_and_accents, "case and accents: ignore")}) {
      if (const auto count = std::ranges::count(rows_, likeness, &Row::likeness); count > 0) {
        remarks.push_back(std::string(keys) + " would find " + base::counted(count, "more word"));
      }
    }
    table.remark = base::join(remarks, "; ");
    return table;
  }

 private:
  using Case = StaticVectors::Case;
  using Accents = StaticVectors::Accents;
  /// Ascending: the best row stays, of equal ones the first. Those below `alike` are not taken.
  enum class Likeness { none, other_case_and_accents, other_accents, other_case, alike, with_underscores, itself };
  struct Row : WordVector {
    Likeness likeness = Likeness::none;
  };

  Likeness likeness_of(std::string_view word, const std::string& wanted) const {
    const auto are_alike = [&](Case letter_case, Accents accents) {
      return comparable(word, letter_case, accents) == comparable(wanted, letter_case, accents);
    };
    return word == wanted                                    ? Likeness::itself
           : word == base::replace_all(wanted, " ", "_")     ? Likeness::with_underscores
           : are_alike(source_.letter_case, source_.accents) ? Likeness::alike
           : are_alike(Case::ignore, source_.accents)        ? Likeness::other_case
           : are_alike(source_.letter_case, Accents::ignore) ? Likeness::other_accents
                                                             : Likeness::other_case_and_accents;
  }

  const StaticVectors& source_;
  std::unordered_multimap<std::string, std::size_t> places_;  ///< in `rows_`, by what cannot differ
  std::vector<Row> rows_;                                     ///< in the order asked
  std::uint64_t num_rows_ = 0;                                ///< of the file, so far
  std::string first_word_;
};

class TextReader {
 public:
  TextReader(const std::filesystem::path& path, VectorFormat format, Found& found)
      : path_(path), found_(found), expects_header_(format == VectorFormat::word2vec_text) {}

  StaticTable read(ByteStream& stream) {
    LineReader lines(stream, 0, ~std::uint64_t{0}, [&](std::uint64_t, std::uint64_t) {
      ++line_;
      refuse("the line is too long", "a row takes at most 1 MiB");
    });
    while (const auto block = lines.next()) {
      const auto text = block->offset == 0 ? without_mark(block->text) : block->text;
      if (line_ == 0) {
        begin(text);
      }
      for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        ++line_;
        if (line_ > 1 || !expects_header_) {
          read_row(text.substr(at, end - at));
        }
        at = end + 1;
      }
    }
    const auto rows = found_.num_rows();
    if (rows == 0 && !expects_header_) {
      refuse("there are no vectors", "the file is empty");
    }
    if (expects_header_ && (line_ == 0 || rows != header_.rows)) {
      refuse("the file ends after " + base::counted(rows, "row"),
             line_ == 0 ? "it is empty" : "its header says " + base::with_thousands(header_.rows));
    }
    return found_.take(dimension_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem, const std::string& why) const {
    throw base::InputError(path_.string() + ":" + std::to_string(line_) + ": " + base::describe(problem, why));
  }

  void begin(std::string_view block) {
    if (expects_header_) {
      const auto header = parse_header(block.substr(0, block.find('\n')));
      if (!header) {
        line_ = 1;
        refuse("no header of word2vec", "it is two integers, words and dimension (1 to 65,536)");
      }
      header_ = *header;
      dimension_ = header->dimension;
      return;
    }
    std::map<std::ptrdiff_t, int> lines_of;  // by number of fields behind the first
    const auto lines = base::split(block, '\n');
    for (const auto& line : std::span(lines).first(std::min(lines.size(), most_lines_for_dimension))) {
      if (const auto row = base::trim(line); !row.empty()) {
        ++lines_of[std::count(row.begin(), row.end(), ' ')];
      }
    }
    lines_of.try_emplace(0);
    dimension_ = std::max_element(lines_of.begin(), lines_of.end(), [](const auto& one, const auto& other) {
                   return one.second < other.second;
                 })->first;
    if (dimension_ < 1 || dimension_ > max_dimension) {
      line_ = 1;
      refuse("a row has " + base::counted(static_cast<std::uint64_t>(dimension_), "number"), "1 to 65,536 are read");
    }
  }

  void read_row(std::string_view row) {
    while (row.ends_with(' ') || row.ends_with('\r')) {
      row.remove_suffix(1);
    }
    if (row.empty()) {
      return;
    }
    const auto blanks = std::count(row.begin(), row.end(), ' ');
    if (blanks < dimension_) {
      refuse("the row has " + base::counted(static_cast<std::uint64_t>(blanks), "number"),
             "its word and " + base::with_thousands(static_cast<std::uint64_t>(dimension_)) + " are needed");
    }
    if (expects_header_ && found_.num_rows() == header_.rows) {
      refuse("there are more rows", "the header says " + base::with_thousands(header_.rows));
    }
    auto border = row.find(' ');
    for (auto more = blanks - dimension_; more > 0; --more) {
      border = row.find(' ', border + 1);
    }
    found_.offer(row.substr(0, border), [&] { return read_numbers(row.substr(border + 1)); });
  }

  std::vector<float> read_numbers(std::string_view text) const {
    std::vector<float> vector;
    for (const auto& field : base::split(text, ' ')) {
      const auto number = base::parse_double(std::string_view(field).substr(field.starts_with('+') ? 1 : 0));
      const auto rounded = static_cast<float>(number.value_or(0));
      if (!number || !std::isfinite(rounded)) {
        refuse(base::json_quote(base::excerpt(field, 40)) + " is no finite float32", "the row is asked for");
      }
      vector.push_back(rounded);
    }
    return vector;
  }

  std::filesystem::path path_;
  Found& found_;
  bool expects_header_;
  Header header_;
  std::int64_t dimension_ = 0;
  std::uint64_t line_ = 0;
};

// "rows dimension\n", then each word, a blank, the vector as little-endian float32, and from some writers a line feed.
class BinaryReader {
 public:
  BinaryReader(const std::filesystem::path& path, ByteStream& stream, Found& found)
      : path_(path), bytes_(stream), found_(found) {}

  StaticTable read() {
    const auto line = bytes_.ahead(max_header_bytes);
    const auto end = line.substr(0, max_header_bytes).find('\n');
    const auto header = end == std::string_view::npos ? std::nullopt : parse_header(line.substr(0, end));
    if (!header) {
      refuse("no header of word2vec", "it is two integers, words and dimension (1 to 65,536)");
    }
    bytes_.take(end + 1);
    for (num_rows_ = header->rows; found_.num_rows() < num_rows_;) {
      read_row(static_cast<std::size_t>(header->dimension) * sizeof(float));
    }
    const auto rest = bytes_.ahead(2);
    if (!rest.empty() && rest != "\n") {
      refuse("bytes behind the last row", "the header says " + base::with_thousands(header->rows));
    }
    return found_.take(header->dimension);
  }

 private:
  static constexpr std::size_t max_header_bytes = 64;

  [[noreturn]] void refuse(const std::string& problem, const std::string& why) const {
    throw base::InputError(path_.string() + ": " +
                           base::describe(problem + " at byte " + std::to_string(bytes_.offset()), why));
  }

  std::string place() const {
    return "row " + base::with_thousands(found_.num_rows() + 1) + " of " + base::with_thousands(num_rows_);
  }

  void read_row(std::size_t vector_bytes) {
    auto bytes = bytes_.ahead(max_word_bytes + vector_bytes + max_word_bytes);
    if (bytes.starts_with('\n')) {
      bytes_.take(1);
      bytes.remove_prefix(1);
    }
    const auto size = word_size(bytes, vector_bytes);
    if (size == std::string_view::npos) {
      refuse(place() + " has no word", "the file ends, or no blank comes within 4,096 bytes");
    }
    const std::string word(bytes.substr(0, size));
    bytes_.take(size + 1);
    bytes = bytes.substr(size + 1, vector_bytes);
    if (bytes.size() < vector_bytes) {
      refuse(place() + " is incomplete", "the file ends");
    }
    found_.offer(word, [&] {
      std::vector<float> vector(vector_bytes / sizeof(float));
      std::memcpy(vector.data(), bytes.data(), vector_bytes);
      if (!std::ranges::all_of(vector, [](float number) { return std::isfinite(number); })) {
        refuse("the vector of " + base::json_quote(word) + " is not finite", "it is asked for");
      }
      return vector;
    });
    bytes_.take(vector_bytes);
  }

  // Nothing says where a word with blanks ends: at the first blank that is followed by numbers of a usual size and the
  // beginning of a row. Letters, as numbers, are of no such size.
  static std::size_t word_size(std::string_view row, std::size_t vector_bytes) {
    const auto first = row.substr(0, max_word_bytes).find(' ');
    for (auto end = first; end < max_word_bytes && is_text(row.substr(0, end)); end = row.find(' ', end + 1)) {
      if (is_followed_by_vector(row.substr(end + 1), vector_bytes)) {
        return end;
      }
    }
    return first;
  }

  static bool is_followed_by_vector(std::string_view bytes, std::size_t vector_bytes) {
    if (bytes.size() < vector_bytes) {
      return false;
    }
    for (std::size_t at = 0; at < vector_bytes; at += sizeof(float)) {
      float number = 0;
      std::memcpy(&number, bytes.data() + at, sizeof(float));
      if (number != 0 && !(std::abs(number) > 1e-15F && std::abs(number) < 1e10F)) {
        return false;
      }
    }
    auto next = bytes.substr(vector_bytes);
    next.remove_prefix(next.starts_with('\n') ? 1 : 0);
    const auto end = next.substr(0, max_word_bytes).find(' ');
    return next.empty() || (end != std::string_view::npos && is_text(next.substr(0, end)));
  }

  static bool is_text(std::string_view word) { return base::printable(word) == word; }

  std::filesystem::path path_;
  ReadAhead bytes_;
  Found& found_;
  std::uint64_t num_rows_ = 0;
};

std::unique_ptr<ByteStream> open(const std::filesystem::path& path) {
  return open_stream(path, compression_of(path, base::open_file(path)));
}

}  // namespace

std::vector<std::string> StaticTable::missing() const {
  auto without = words | std::views::filter([](const auto& row) { return row.vector.empty(); });
  return base::mapped(without, &WordVector::word);
}

VectorFormat format_of_vectors(const std::filesystem::path& path) {
  constexpr std::size_t head_bytes = std::size_t{1} << 16;
  const auto stream = open(path);
  ReadAhead bytes(*stream);
  const auto head = bytes.ahead(head_bytes).substr(0, head_bytes);
  const auto end = std::min(head.find('\n'), head.size());
  const auto header = parse_header(without_mark(head.substr(0, end)));
  if (!header) {
    return VectorFormat::glove_text;
  }
  // A row of text ends with decimal numbers; in bytes of floating-point numbers any may look like a line feed.
  auto rows = head.substr(std::min(end + 1, head.size()));
  rows.remove_prefix(std::min(rows.find_first_not_of("\r\n"), rows.size()));
  const auto fields = base::split(base::trim(rows.substr(0, rows.find('\n'))), ' ');
  const auto is_decimal = [](const std::string& field) {
    return !field.empty() && field.find_first_not_of("0123456789+-.eEnaifNAIF") == std::string::npos;
  };
  const auto word_end = std::find_if_not(fields.rbegin(), std::prev(fields.rend()), is_decimal);
  const auto numbers = word_end - fields.rbegin();
  const bool has_control =
      std::any_of(rows.begin(), rows.end(), [](char c) { return (c >= 0 && c < '\t') || (c > '\r' && c < ' '); });
  const bool is_text = numbers >= header->dimension || ((numbers > 0 || fields.size() == 1) && !has_control);
  return is_text ? VectorFormat::word2vec_text : VectorFormat::word2vec_binary;
}

StaticTable read_vectors(const StaticVectors& source, std::span<const std::string> words) {
  STEREOSWEEP_ASSERT(source.format != VectorFormat::model, "a model's own embeddings are in no such file");
  const auto format = source.format == VectorFormat::automatic ? format_of_vectors(source.file) : source.format;
  Found found(source, words);
  const auto stream = open(source.file);
  return format == VectorFormat::word2vec_binary ? BinaryReader(source.file, *stream, found).read()
                                                 : TextReader(source.file, format, found).read(*stream);
}

}  // namespace stereosweep::corpus
