#include "corpus/Collect.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Json.hpp"
#include "corpus/ByteStream.hpp"
#include "corpus/JsonField.hpp"
#include "corpus/Matcher.hpp"
#include "corpus/WordRuns.hpp"

namespace stereosweep::corpus {
namespace {

constexpr std::uint64_t bytes_between_reports = std::uint64_t{8} << 20;

std::uint64_t start_of(const base::Digest& digest) {
  std::uint64_t value = 0;
  std::memcpy(&value, digest.data(), sizeof(value));
  return value;
}

std::uint64_t hash_of(std::string_view text) { return start_of(base::sha256(text)); }

std::uint64_t identity_of(const Corpus& corpus, std::span<const CorpusFile> files, std::span<const std::string> words,
                          std::uint64_t seed) {
  base::Sha256 hash;
  hash.number(seed).field(corpus.field).number(static_cast<std::uint64_t>(corpus.boundary));
  hash.number(static_cast<std::uint64_t>(corpus.letter_case)).number(static_cast<std::uint64_t>(corpus.max_contexts));
  hash.number(words.size());
  for (const auto& word : words) {
    hash.field(word);
  }
  for (const auto& file : files) {
    hash.field(file.label).number(file.size).number(static_cast<std::uint64_t>(file.format));
  }
  return start_of(hash.finish());
}

class Collector {
 public:
  Collector(const Corpus& corpus, std::span<const std::string> words, std::uint64_t seed)
      : corpus_(corpus), matcher_(words, corpus.boundary, corpus.letter_case), field_(corpus.field) {
    sample_.max_contexts = static_cast<std::uint64_t>(std::max<std::int64_t>(corpus.max_contexts, 0));
    for (const auto& word : words) {
      sample_.words.push_back({word, 0, {}});
      words_.push_back({base::mix_bits(base::mix_bits(seed) ^ hash_of(word))});
    }
  }

  void read(const CorpusFile& file, const Piece& piece, const ReadAhead::Hook& hook) {
    file_ = &file;
    file_hash_ = hash_of(file.label);
    sample_.files += piece.begin == 0 ? 1 : 0;
    const bool whole = file.compression != Compression::none;
    const auto stream = open_lines(file.path, file.compression, piece.begin > 0 ? piece.begin - 1 : 0);
    const auto skip = [&](std::uint64_t offset, std::uint64_t bytes) {
      sample_.bytes += bytes;
      ++sample_.lines;
      add_bad_line(LineFault::too_long, offset);
    };
    LineReader reader(*stream, piece.begin, whole ? ~std::uint64_t{0} : piece.end, skip, hook);
    while (const auto block = reader.next()) {
      sample_.bytes += block->text.size();
      sample_.lines += static_cast<std::uint64_t>(std::count(block->text.begin(), block->text.end(), '\n')) +
                       (block->text.ends_with('\n') ? 0 : 1);
      if (file.format == Corpus::Format::text) {
        read_text(*block);
      } else {
        read_json(*block);
      }
    }
    if (!whole && piece.end > piece.begin && stream->stored_position() < piece.end) {
      base::refuse(file.path.string() + " became shorter while it was read",
                   "the sample would not be that of any corpus");
    }
  }

  Sample take() {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      drop(word);
      std::ranges::sort(sample_.words[word].contexts, comes_before);
    }
    return std::move(sample_);
  }

 private:
  // All lines of a block at once; lines without an occurrence are never looked at by themselves.
  void read_text(const LineBlock& block) {
    const auto& hits = matcher_.find(block.text, Scope::lines);
    add_invalid_lines(block, matcher_.invalid());
    base::Span line;
    bool is_invalid = false;
    for (const auto& hit : hits) {
      if (hit.begin >= line.end) {
        line = line_at(block.text, hit.begin);
        is_invalid = std::binary_search(invalid_lines_.begin(), invalid_lines_.end(), line.begin);
        ++line_number_;
      }
      if (!is_invalid) {
        const auto sentence = sentence_of(block, line);
        const auto moved = static_cast<std::size_t>(sentence.data() - block.text.data());
        add_hit({hit.word, hit.begin - moved, hit.end - moved}, sentence, block.offset + line.begin);
      }
    }
  }

  void read_json(const LineBlock& block) {
    masks_.assign(block.text);
    add_invalid_lines(block, masks_.invalid());
    auto invalid = invalid_lines_.begin();
    for (std::size_t at = 0; at < block.text.size();) {
      const auto line = line_at(block.text, at);
      at = line.end + 1;
      if (invalid != invalid_lines_.end() && *invalid == line.begin) {
        ++invalid;
        continue;
      }
      const auto text = sentence_of(block, line);
      if (text.find_first_not_of(" \t") != std::string_view::npos) {
        read_json_line(text, block.offset + line.begin);
      }
    }
  }

  void read_json_line(std::string_view line, std::uint64_t offset) {
    const auto status = field_.find(line);
    if (status != JsonLine::found) {
      add_bad_line(status == JsonLine::broken ? LineFault::broken_json : LineFault::no_field, offset);
      return;
    }
    const auto& hits = matcher_.find(field_.value(), Scope::sentence);
    if (!matcher_.invalid().empty()) {  // an escaped NUL
      add_bad_line(LineFault::invalid_text, offset);
      return;
    }
    ++line_number_;
    for (const auto& hit : hits) {
      add_hit(hit, field_.value(), offset);
    }
  }

  static base::Span line_at(std::string_view text, std::size_t position) {
    const void* before = ::memrchr(text.data(), '\n', position);
    const void* behind = std::memchr(text.data() + position, '\n', text.size() - position);
    const auto offset_of = [&](const void* place) {
      return static_cast<std::size_t>(static_cast<const char*>(place) - text.data());
    };
    return {before == nullptr ? 0 : offset_of(before) + 1, behind == nullptr ? text.size() : offset_of(behind)};
  }

  static std::string_view sentence_of(const LineBlock& block, base::Span line) {
    auto sentence = block.text.substr(line.begin, line.end - line.begin);
    if (sentence.ends_with('\r')) {
      sentence.remove_suffix(1);
    }
    if (block.offset + line.begin == 0 && sentence.starts_with("\xEF\xBB\xBF")) {
      sentence.remove_prefix(3);  // a byte order mark
    }
    return sentence;
  }

  void add_invalid_lines(const LineBlock& block, const std::vector<std::size_t>& positions) {
    invalid_lines_.clear();
    std::size_t end = 0;
    for (const auto position : positions) {
      if (position >= end) {
        const auto line = line_at(block.text, position);
        end = line.end;
        invalid_lines_.push_back(line.begin);
        add_bad_line(LineFault::invalid_text, block.offset + line.begin);
      }
    }
  }

  void add_hit(const Hit& hit, std::string_view sentence, std::uint64_t offset) {
    auto& word = words_[hit.word];
    if (word.line != line_number_) {
      word.line = line_number_;
      word.occurrences = 0;
    }
    const auto number = word.occurrences++;
    if (corpus_.boundary == Corpus::Boundary::blanks && number > 0) {
      return;
    }
    ++sample_.words[hit.word].occurrences;
    const auto place = base::mix_bits(base::mix_bits(word.hash ^ file_hash_) ^ offset);
    const auto key = base::mix_bits(place ^ number);
    if (key <= word.largest && sample_.max_contexts > 0) {  // else its text need not be built
      keep({std::string(sentence), {hit.begin, hit.end}, key, file_->label, offset}, hit.word);
    }
  }

  // The contexts of the smallest keys are a uniform sample without replacement, whatever the order they come in. Up to
  // twice as many as wanted are held, so that the larger half is dropped in one pass now and then: a heap would move
  // long records at every step.
  void keep(Context whole, std::size_t word) {
    auto& kept = sample_.words[word].contexts;
    kept.push_back(cut_to_size(std::move(whole), max_sentence_bytes));
    kept_bytes_ += size_of(kept.back());
    if (kept.size() / 2 >= sample_.max_contexts) {
      drop(word);
    }
    if (kept_bytes_ > max_sample_bytes) {
      base::fail("the sample of the corpus takes more than 4 GiB", "its sentences are long, or contexts are many",
                 "lower max_contexts");
    }
  }

  // What a sample has beyond its size.
  void drop(std::size_t word) {
    auto& kept = sample_.words[word].contexts;
    if (kept.size() > sample_.max_contexts) {
      const auto last = kept.begin() + static_cast<std::ptrdiff_t>(sample_.max_contexts) - 1;
      std::nth_element(kept.begin(), last, kept.end(), comes_before);
      words_[word].largest = last->key;
      std::for_each(last + 1, kept.end(), [this](const Context& one) { kept_bytes_ -= size_of(one); });
      kept.resize(sample_.max_contexts);
    }
  }

  static std::uint64_t size_of(const Context& context) {
    return sizeof(Context) + context.sentence.size() + context.file.size();
  }

  void add_bad_line(LineFault fault, std::uint64_t offset) {
    auto& lines = sample_.bad_lines[static_cast<std::size_t>(fault)];
    ++lines.count;
    BadLine line{file_->label, offset};
    if (lines.first.size() == BadLines::most_listed && line > lines.first.back()) {
      return;
    }
    lines.first.push_back(std::move(line));
    std::sort(lines.first.begin(), lines.first.end());
    lines.first.resize(std::min(lines.first.size(), BadLines::most_listed));
  }

  struct Word {
    std::uint64_t hash = 0;
    std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();  // key that its sample may take
    std::uint64_t line = 0;                                             // the last one that had it
    std::uint64_t occurrences = 0;                                      // in that line
  };
  const Corpus& corpus_;
  Matcher matcher_;
  Sample sample_;
  std::vector<Word> words_;
  std::uint64_t line_number_ = 0;  // of lines with an occurrence
  JsonField field_;
  WordMasks masks_;                         // of a block of JSON lines
  std::vector<std::size_t> invalid_lines_;  // of the block: where they begin
  const CorpusFile* file_ = nullptr;
  std::uint64_t file_hash_ = 0;
  std::uint64_t kept_bytes_ = 0;
};

// Where a line has texts that can be read, those of the field's own name first: "data.text" of {"data": {"text": ...}}.
std::string field_in(std::string_view line, const std::string& field) {
  const auto name = field.substr(field.rfind('.') + 1);
  std::vector<std::string> paths;
  const auto flat = base::Json::parse(line, nullptr, false).flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const auto keys = base::split(pointer, '/');
    const bool is_in_list =
        std::ranges::any_of(keys, [](const auto& key) { return base::parse_integer(key).has_value(); });
    if (value.is_string() && keys.size() > 1 && !is_in_list) {
      paths.insert(keys.back() == name ? paths.begin() : paths.end(), base::join(std::span(keys).subspan(1), "."));
    }
  }
  paths.resize(std::min<std::size_t>(paths.size(), 8));
  return paths.empty() ? "the first has no text outside of lists"
                       : "the texts of the first are field: " + base::join(paths, ", field: ");
}

std::string encoding_of(const CorpusFile& file, std::string_view head, bool are_many) {
  const auto zeros = static_cast<std::size_t>(std::ranges::count(head, '\0'));
  const bool has_mark = head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
  const bool is_wide = has_mark || 4 * zeros > head.size();
  if (!is_wide && (zeros > 0 || !are_many)) {
    return "";
  }
  const std::string encoding = !is_wide ? "CP1252" : has_mark ? "UTF-16" : head[0] == '\0' ? "UTF-16BE" : "UTF-16LE";
  return file.label + (is_wide ? " looks like " : " is perhaps in ") + encoding + ": convert it with iconv -f " +
         encoding + " -t UTF-8 " + file.path.filename().string();
}

// What the first line that was left out for this reason looks like, and what to do; "" where nothing can be told.
std::string cause_of(LineFault fault, const Sample& sample, const Corpus& corpus) {
  constexpr std::uint64_t most_unpacked = std::uint64_t{1} << 26;
  const auto& lines = sample.bad_lines[static_cast<std::size_t>(fault)];
  const auto files = list_files(corpus);
  const auto file = std::ranges::find(files, lines.first[0].file, &CorpusFile::label);
  if (file == files.end() || (file->compression != Compression::none && lines.first[0].line_offset > most_unpacked)) {
    return "";
  }
  const auto skipped = file->compression == Compression::none ? 0 : lines.first[0].line_offset;
  const auto stream = open_lines(file->path, file->compression, lines.first[0].line_offset - skipped);
  ReadAhead ahead(*stream);
  ahead.take(ahead.ahead(skipped).substr(0, skipped).size());
  const auto bytes = ahead.ahead(max_line_bytes).substr(0, max_line_bytes);
  if (fault == LineFault::no_field) {
    return field_in(base::trim(bytes.substr(0, bytes.find('\n'))), corpus.field);
  }
  return fault == LineFault::invalid_text
             ? encoding_of(*file, bytes.substr(0, 4096), 1000 * lines.count >= sample.lines)
             : "";
}

}  // namespace

std::vector<std::string> remarks_on_bad_lines(const Sample& sample, const Corpus& corpus) {
  constexpr std::array<const char*, num_line_faults> reasons = {"not valid UTF-8, or with a NUL", "too long",
                                                                "not valid JSON", "without the field"};
  std::vector<std::string> remarks;
  for (std::size_t fault = 0; fault < num_line_faults; ++fault) {
    const auto& bad = sample.bad_lines[fault];
    if (bad.count > 0) {
      const auto cause = cause_of(static_cast<LineFault>(fault), sample, corpus);
      const auto places = base::mapped(
          bad.first, [](const auto& line) { return line.file + " at byte " + std::to_string(line.line_offset); });
      remarks.push_back(base::counted(bad.count, "line") + " left out (" + reasons[fault] +
                        "): " + base::join(places, ", ") + (cause.empty() ? "" : "; " + cause));
    }
  }
  return remarks;
}

Sample collect(const Corpus& corpus, std::span<const std::string> words, std::uint64_t seed, Shard shard,
               const ProgressHook& progress) {
  const auto files = list_files(corpus);
  Collector collector(corpus, words, seed);
  const auto pieces = deal(files, shard);
  Progress done;
  for (const auto& piece : pieces) {
    done.bytes_total += piece.end - piece.begin;
  }
  std::uint64_t reported = 0;
  std::uint64_t before = 0;  // bytes of the pieces that are read
  for (const auto& piece : pieces) {
    collector.read(files[piece.file], piece, [&](std::uint64_t stored, std::uint64_t bytes) {
      done.bytes_done = before + std::min(stored, piece.end) - std::min(stored, piece.begin);
      done.bytes_read += bytes;
      if (progress && done.bytes_read >= reported + bytes_between_reports) {
        reported = done.bytes_read;
        progress(done);
      }
    });
    before += piece.end - piece.begin;
  }
  auto sample = collector.take();
  sample.identity = identity_of(corpus, files, words, seed);
  return sample;
}

}  // namespace stereosweep::corpus
