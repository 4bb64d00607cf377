#include "corpus/StaticVectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "corpus/ByteStream.hpp"

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
  explicit Found(std::span<const std::string> words)
      : words_(words), how_(words.size(), Name::none), rows_(words.size()) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_new = names_.emplace(words[i], Wanted{i, Name::itself}).second;
      STEREOSWEEP_ASSERT(is_new, "'" + words[i] + "' is asked for twice");
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      names_.emplace(base::replace_all(words[i], " ", "_"), Wanted{i, Name::with_underscores});
    }
  }
  /// Where the vector of a row must be put, empty; nothing where nobody asked for it.
  std::vector<float>* place_of(std::string_view word) {
    const auto wanted = names_.find(word);
    if (wanted == names_.end() || how_[wanted->second.index] >= wanted->second.name) {
      return nullptr;
    }
    how_[wanted->second.index] = wanted->second.name;
    rows_[wanted->second.index].clear();
    return &rows_[wanted->second.index];
  }
  StaticTable take(std::int64_t dimension, std::uint64_t rows) {
    StaticTable table{dimension, rows, {}, {}, {}, {}};
    for (std::size_t i = 0; i < words_.size(); ++i) {
      (how_[i] == Name::none ? table.missing : table.words).push_back(words_[i]);
      table.vectors.insert(table.vectors.end(), rows_[i].begin(), rows_[i].end());
    }
    return table;
  }

 private:
  enum class Name { none, with_underscores, itself };  // ascending: the better one stays
  struct Wanted {
    std::size_t index = 0;
    Name name = Name::none;
  };
  std::span<const std::string> words_;
  std::map<std::string, Wanted, std::less<>> names_;
  std::vector<Name> how_;
  std::vector<std::vector<float>> rows_;
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
    if (rows_ == 0 && !expects_header_) {
      refuse("there are no vectors", "the file is empty");
    }
    if (expects_header_ && (line_ == 0 || rows_ != header_.rows)) {
      refuse("the file ends after " + base::counted(rows_, "row"),
             line_ == 0 ? "it is empty" : "its header says " + base::with_thousands(header_.rows));
    }
    auto table = found_.take(dimension_, rows_);
    table.first_word = first_word_;
    return table;
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
    ++rows_;
    if (expects_header_ && rows_ > header_.rows) {
      refuse("there are more rows", "the header says " + base::with_thousands(header_.rows));
    }
    auto border = row.find(' ');
    for (auto more = blanks - dimension_; more > 0; --more) {
      border = row.find(' ', border + 1);
    }
    if (rows_ == 1) {
      first_word_ = row.substr(0, border);
    }
    if (auto* place = found_.place_of(row.substr(0, border))) {
      read_numbers(row.substr(border + 1), *place);
    }
  }

  void read_numbers(std::string_view text, std::vector<float>& vector) const {
    for (const auto& field : base::split(text, ' ')) {
      const auto number = base::parse_double(std::string_view(field).substr(field.starts_with('+') ? 1 : 0));
      const auto rounded = static_cast<float>(number.value_or(0));
      if (!number || !std::isfinite(rounded)) {
        refuse(base::json_quote(field.substr(0, 40)) + " is no finite float32", "the row is asked for");
      }
      vector.push_back(rounded);
    }
  }

  std::filesystem::path path_;
  Found& found_;
  bool expects_header_;
  Header header_;
  std::int64_t dimension_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t line_ = 0;
  std::string first_word_;
};

// "rows dimension\n", then each word, a blank, the vector as little-endian float32, and from some writers a line feed.
class BinaryReader {
 public:
  BinaryReader(const std::filesystem::path& path, Found& found) : path_(path), found_(found) {}

  StaticTable read(ByteStream& stream) {
    stream_ = &stream;
    const auto line = read_until('\n', 64);
    const auto header = line ? parse_header(*line) : std::nullopt;
    if (!header) {
      refuse("no header of word2vec", "it is two integers, words and dimension (1 to 65,536)");
    }
    std::vector<float> vector(static_cast<std::size_t>(header->dimension));
    std::string first_word;
    for (std::uint64_t row = 0; row < header->rows; ++row) {
      auto word = read_until(' ', max_word_bytes);
      if (!word) {
        refuse("row " + base::with_thousands(row + 1) + " of " + base::with_thousands(header->rows) + " has no word",
               "the file ends, or no blank comes within 4,096 bytes");
      }
      if (word->starts_with('\n')) {
        word->erase(0, 1);
      }
      if (word->empty() || !read_bytes({reinterpret_cast<char*>(vector.data()), vector.size() * sizeof(float)})) {
        refuse("row " + base::with_thousands(row + 1) + " of " + base::with_thousands(header->rows) + " is incomplete",
               word->empty() ? "its word is empty" : "the file ends");
      }
      if (row == 0) {
        first_word = *word;
      }
      if (auto* place = found_.place_of(*word)) {
        if (!std::all_of(vector.begin(), vector.end(), [](float number) { return std::isfinite(number); })) {
          refuse("the vector of " + base::json_quote(*word) + " is not finite", "it is asked for");
        }
        *place = vector;
      }
    }
    std::array<char, 2> rest{};
    if ((read_bytes({rest.data(), 1}) && rest[0] != '\n') || read_bytes({rest.data(), 1})) {
      refuse("bytes behind the last row", "the header says " + base::with_thousands(header->rows));
    }
    auto table = found_.take(header->dimension, header->rows);
    table.first_word = first_word;
    return table;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem, const std::string& why) const {
    throw base::InputError(path_.string() + ": " +
                           base::describe(problem + " at byte " + std::to_string(offset_), why));
  }

  bool fill() {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = stream_->read(buffer_);
    }
    return end_ > begin_;
  }

  // What stands before `end`, which is taken, too; nothing where it does not come within `most` bytes.
  std::optional<std::string> read_until(char end, std::size_t most) {
    std::string text;
    while (text.size() <= most && fill()) {
      const char c = buffer_[begin_++];
      ++offset_;
      if (c == end) {
        return text;
      }
      text += c;
    }
    return std::nullopt;
  }

  bool read_bytes(std::span<char> to) {
    while (!to.empty() && fill()) {
      const auto count = std::min(to.size(), end_ - begin_);
      std::memcpy(to.data(), buffer_.data() + begin_, count);
      to = to.subspan(count);
      begin_ += count;
      offset_ += count;
    }
    return to.empty();
  }

  std::filesystem::path path_;
  Found& found_;
  ByteStream* stream_ = nullptr;
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 18);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
};

std::unique_ptr<ByteStream> open(const std::filesystem::path& path) {
  return open_stream(path, compression_of(path, base::open_file(path)));
}

}  // namespace

VectorFormat format_of_vectors(const std::filesystem::path& path) {
  std::string head(std::size_t{1} << 16, '\0');
  head.resize(open(path)->read(head));
  const auto end = std::min(head.find('\n'), head.size());
  const auto header = parse_header(without_mark(std::string_view(head).substr(0, end)));
  if (!header) {
    return VectorFormat::glove_text;
  }
  // Behind the first word: decimal numbers, or bytes of floating-point numbers, any of which may look like a line feed.
  const auto rows = std::string_view(head).substr(std::min(end + 1, head.size()));
  const auto numbers = rows.substr(std::min(rows.find(' '), rows.size()));
  const auto line = numbers.substr(0, numbers.find('\n'));
  const bool is_decimal = line.find_first_not_of(" \r0123456789+-.eEnaifNAIF") == std::string_view::npos;
  const bool is_whole = std::count(line.begin(), line.end(), ' ') >= header->dimension;
  const bool has_control =
      std::any_of(rows.begin(), rows.end(), [](char c) { return (c >= 0 && c < '\t') || (c > '\r' && c < ' '); });
  return is_decimal && (is_whole || !has_control) ? VectorFormat::word2vec_text : VectorFormat::word2vec_binary;
}

StaticTable read_vectors(const std::filesystem::path& path, VectorFormat format, std::span<const std::string> words) {
  STEREOSWEEP_ASSERT(format != VectorFormat::model, "a model's own embeddings are in no such file");
  if (format == VectorFormat::automatic) {
    format = format_of_vectors(path);
  }
  Found found(words);
  const auto stream = open(path);
  return format == VectorFormat::word2vec_binary ? BinaryReader(path, found).read(*stream)
                                                 : TextReader(path, format, found).read(*stream);
}

}  // namespace stereosweep::corpus
