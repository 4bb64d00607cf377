#include "corpus/Collect.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Random.hpp"
#include "base/Sha256.hpp"
#include "corpus/Deal.hpp"
#include "corpus/Files.hpp"
#include "corpus/LineReader.hpp"
#include "corpus/Matcher.hpp"
#include "corpus/SmallestKeys.hpp"
#include "corpus/Window.hpp"

namespace stereosweep::corpus {
namespace {

using Format = domain::Corpus::Format;

constexpr std::uint64_t bytes_between_reports = std::uint64_t{8} << 20;

std::uint64_t hash_of(std::string_view text) {
  const auto digest = base::sha256(text);
  std::uint64_t value = 0;
  std::memcpy(&value, digest.data(), sizeof(value));
  return value;
}

std::uint64_t identity_of(const domain::Corpus& corpus, std::span<const CorpusFile> files,
                          std::span<const std::string> words, std::uint64_t seed) {
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
  const auto digest = hash.finish();
  std::uint64_t value = 0;
  std::memcpy(&value, digest.data(), sizeof(value));
  return value;
}

class Collector {
 public:
  Collector(const domain::Corpus& corpus, std::span<const std::string> words, std::uint64_t seed)
      : corpus_(corpus), matcher_(words, corpus.boundary, corpus.letter_case), numbers_(words.size()) {
    sample_.max_contexts = static_cast<std::uint64_t>(std::max<std::int64_t>(corpus.max_contexts, 0));
    for (const auto& word : words) {
      sample_.words.push_back({word, 0, {}});
      kept_.emplace_back(sample_.max_contexts);
      word_hashes_.push_back(base::mix_bits(base::mix_bits(seed) ^ hash_of(word)));
    }
  }

  void read(const CorpusFile& file, const Piece& piece,
            const std::function<void(std::uint64_t, std::uint64_t)>& report) {
    file_ = &file;
    file_hash_ = hash_of(file.label);
    sample_.files += piece.begin == 0 ? 1 : 0;
    const bool whole = file.compression != Compression::none;
    const auto stream = open_stream(file.path, file.compression, piece.begin > 0 ? piece.begin - 1 : 0);
    LineReader reader(*stream, piece.begin, whole ? ~std::uint64_t{0} : piece.end,
                      [&](std::uint64_t offset, std::uint64_t bytes) {
                        sample_.bytes += bytes;
                        ++sample_.lines;
                        add_bad_line(LineFault::too_long, offset);
                      });
    while (const auto block = reader.next()) {
      sample_.bytes += block->text.size();
      read_block(*block);
      report(stream->stored_position() - piece.begin, sample_.bytes);
    }
  }

  Sample take() {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      sample_.words[i].contexts = kept_[i].take();
    }
    return std::move(sample_);
  }

 private:
  void read_block(const LineBlock& block) {
    for (std::size_t at = 0; at < block.text.size();) {
      const auto end = std::min(block.text.find('\n', at), block.text.size());
      auto line = block.text.substr(at, end - at);
      if (line.ends_with('\r')) {
        line.remove_suffix(1);
      }
      ++sample_.lines;
      read_line(line, block.offset + at);
      at = end + 1;
    }
  }

  void read_line(std::string_view line, std::uint64_t offset) {
    if (offset == 0 && line.starts_with("\xEF\xBB\xBF")) {
      line.remove_prefix(3);  // a byte order mark
    }
    if (base::find_invalid_utf8(line) || line.find('\0') != std::string_view::npos) {
      add_bad_line(LineFault::invalid_text, offset);
    } else if (file_->format == Format::text) {
      read_sentence(line, offset);
    } else if (line.find_first_not_of(" \t") != std::string_view::npos) {
      read_json(line, offset);
    }
  }

  void read_json(std::string_view line, std::uint64_t offset) {
    try {
      const auto document = base::parse_json(line, "line");
      const auto found = document.is_object() ? document.find(corpus_.field) : document.end();
      if (!document.is_object() || found == document.end() || !found->is_string()) {
        add_bad_line(LineFault::no_field, offset);
      } else {
        read_sentence(found->get_ref<const std::string&>(), offset);
      }
    } catch (const base::InputError&) {
      add_bad_line(LineFault::broken_json, offset);
    }
  }

  void read_sentence(std::string_view sentence, std::uint64_t offset) {
    hits_.clear();
    matcher_.find(sentence, hits_);
    for (const auto& hit : hits_) {
      const auto number = numbers_[hit.word]++;
      ++sample_.words[hit.word].occurrences;
      const auto key =
          base::mix_bits(base::mix_bits(base::mix_bits(word_hashes_[hit.word] ^ file_hash_) ^ offset) ^ number);
      if (kept_[hit.word].wants(key)) {
        keep(hit,
             cut_to_size({std::string(sentence), {hit.begin, hit.end}, key, file_->label, offset}, max_sentence_bytes));
      }
    }
    for (const auto& hit : hits_) {
      numbers_[hit.word] = 0;
    }
  }

  void keep(const Hit& hit, Context context) {
    kept_bytes_ += kept_[hit.word].add(std::move(context));
    if (kept_bytes_ > static_cast<std::int64_t>(max_sample_bytes)) {
      throw base::Error(base::describe("the sample of the corpus takes more than 4 GiB",
                                       "its sentences are long, or contexts are many", "lower max_contexts"));
    }
  }

  void add_bad_line(LineFault fault, std::uint64_t offset) {
    auto& lines = sample_.bad_lines[static_cast<std::size_t>(fault)];
    ++lines.count;
    lines.first.push_back({file_->label, offset});
    std::sort(lines.first.begin(), lines.first.end());
    lines.first.resize(std::min(lines.first.size(), BadLines::most_listed));
  }

  const domain::Corpus& corpus_;
  Matcher matcher_;
  Sample sample_;
  std::vector<SmallestKeys> kept_;
  std::vector<std::uint64_t> word_hashes_, numbers_;
  std::vector<Hit> hits_;
  const CorpusFile* file_ = nullptr;
  std::uint64_t file_hash_ = 0;
  std::int64_t kept_bytes_ = 0;
};

}  // namespace

std::uint64_t identity_of(const domain::Corpus& corpus, std::span<const std::string> words, std::uint64_t seed) {
  return identity_of(corpus, list_files(corpus), words, seed);
}

Sample collect(const domain::Corpus& corpus, std::span<const std::string> words, std::uint64_t seed, Shard shard,
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
      done.bytes_done = before + std::min(stored, piece.end - piece.begin);
      done.bytes_read = bytes;
      if (progress && bytes >= reported + bytes_between_reports) {
        reported = bytes;
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
