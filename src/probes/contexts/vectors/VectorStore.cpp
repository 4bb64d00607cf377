#include "probes/contexts/vectors/VectorStore.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "base/Bytes.hpp"
#include "base/Check.hpp"
#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/PendingFile.hpp"
#include "base/Text.hpp"

namespace stereosweep::probes::contexts {
namespace {

constexpr std::string_view store_magic = "SSWVECT1";
constexpr std::uint64_t alignment = 64;

/// All that stands before the rows, padded.
std::vector<std::byte> head_of(std::span<const WordVectors> words, std::uint64_t dimension) {
  base::ByteWriter head;
  head.number(dimension).number(std::uint64_t{words.size()});
  for (const auto& word : words) {
    head.text(word.word).number(word.usable).raw(std::as_bytes(std::span(word.digest)));
  }
  base::ByteWriter out;
  out.raw(std::as_bytes(std::span(store_magic))).number(std::uint64_t{head.bytes().size()}).raw(head.bytes());
  base::Sha256 hash;
  hash.update(out.bytes());
  const auto digest = hash.finish();
  out.raw(std::as_bytes(std::span(digest)));
  auto bytes = out.take();
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
  return bytes;
}

std::uint64_t bytes_of_rows(std::uint64_t rows, std::uint64_t dimension) {
  const auto bytes = rows * dimension * sizeof(float);
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Summed in the order of the dimensions, in float64.
double inverse_length_of(std::span<const float> vector) {
  double sum = 0;
  for (const float value : vector) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum > 0 ? 1 / std::sqrt(sum) : std::numeric_limits<double>::quiet_NaN();
}

[[noreturn]] void fail_to_write(const std::filesystem::path& path) {
  const auto failure = base::explain_write_failure(path, errno);
  throw base::Error(base::describe(
      "cannot write '" + path.string() + "'", failure.why,
      (failure.advice.empty() ? "run the same command again" : failure.advice) + ": finished blocks are kept"));
}

}  // namespace

VectorStoreWriter::VectorStoreWriter(std::filesystem::path path, std::vector<WordVectors> words,
                                     std::uint64_t dimension)
    : path_(std::move(path)),
      pending_(path_),
      words_(std::move(words)),
      dimension_(dimension),
      out_(pending_.path(), std::ios::binary | std::ios::trunc) {
  for (auto& word : words_) {
    word.usable = 0;
  }
  const auto head = head_of(words_, dimension_);
  begin_ = head.size();
  out_.write(reinterpret_cast<const char*>(head.data()), static_cast<std::streamsize>(head.size()));
  if (!out_) {
    fail_to_write(path_);
  }
}

void VectorStoreWriter::end_word() {
  words_[word_].digest = hash_.finish();
  hash_ = base::Sha256();
  ++word_;
}

void VectorStoreWriter::add(std::uint64_t word, std::span<const float> vector) {
  STEREOSWEEP_ASSERT(word >= word_ && word < words_.size() && vector.size() == dimension_, "rows out of order");
  while (word_ < word) {
    end_word();
  }
  ++words_[word].usable;
  hash_.update(std::as_bytes(vector));
  inverse_lengths_.push_back(inverse_length_of(vector));
  out_.write(reinterpret_cast<const char*>(vector.data()), static_cast<std::streamsize>(vector.size_bytes()));
}

std::vector<WordVectors> VectorStoreWriter::finish() {
  while (word_ < words_.size()) {
    end_word();
  }
  const auto rows = inverse_lengths_.size();
  const std::vector<char> padding(bytes_of_rows(rows, dimension_) - rows * dimension_ * sizeof(float));
  out_.write(padding.data(), static_cast<std::streamsize>(padding.size()));
  out_.write(reinterpret_cast<const char*>(inverse_lengths_.data()),
             static_cast<std::streamsize>(rows * sizeof(double)));
  const auto head = head_of(words_, dimension_);
  STEREOSWEEP_ASSERT(head.size() == begin_, "the head has changed its size");
  out_.seekp(0);
  out_.write(reinterpret_cast<const char*>(head.data()), static_cast<std::streamsize>(head.size()));
  out_.close();
  if (!out_) {
    fail_to_write(path_);
  }
  pending_.commit();
  return words_;
}

VectorStore::VectorStore(const std::filesystem::path& path, std::span<const WordVectors> words, std::uint64_t dimension)
    : name_(path.string()), content_(base::open_file(path).mapped()), dimension_(dimension), first_{0} {
  const auto head = head_of(words, dimension);
  const auto bytes = content_.bytes();
  if (bytes.size() < head.size() || std::memcmp(bytes.data(), head.data(), head.size()) != 0) {
    throw base::InputError(base::describe("'" + name_ + "' is not the store of this run's vectors",
                                          "its head is damaged or another run's"));
  }
  for (const auto& word : words) {
    first_.push_back(first_.back() + word.usable);
  }
  const auto rows = bytes_of_rows(first_.back(), dimension);
  if (bytes.size() != head.size() + rows + first_.back() * sizeof(double)) {
    throw base::InputError(base::describe("'" + name_ + "' is damaged", "its size does not fit its head"));
  }
  rows_ = reinterpret_cast<const float*>(bytes.data() + head.size());
  inverse_lengths_ = reinterpret_cast<const double*>(bytes.data() + head.size() + rows);
}

void VectorStore::verify(std::span<const WordVectors> words) const {
  const auto* end = reinterpret_cast<const char*>(rows_ + first_.back() * dimension_);
  const auto* next = reinterpret_cast<const char*>(inverse_lengths_);
  if (std::any_of(end, next, [](char byte) { return byte != 0; })) {
    throw base::InputError(base::describe("'" + name_ + "' is damaged", "bytes between its parts are not zero"));
  }
  for (std::uint64_t word = 0; word < words.size(); ++word) {
    base::Sha256 hash;
    bool fits = true;
    for (std::uint64_t context = 0; context < count(word); ++context) {
      const std::span<const float> vector(row(word, context), dimension_);
      hash.update(std::as_bytes(vector));
      const auto expected = inverse_length_of(vector);
      const auto found = inverse_length(word, context);
      fits = fits && std::memcmp(&expected, &found, sizeof found) == 0;
    }
    if (!fits || hash.finish() != words[word].digest) {
      throw base::InputError(
          base::describe("'" + name_ + "' is damaged", "vectors of '" + words[word].word + "' are not those written"));
    }
  }
}

std::shared_ptr<const VectorStore> open_store(const std::filesystem::path& file, std::span<const WordVectors> words,
                                              std::uint64_t dimension, std::chrono::duration<double> patience) {
  constexpr std::chrono::duration<double> longest_pause{1};
  std::chrono::duration<double> pause{0.01};
  const auto start = std::chrono::steady_clock::now();
  for (bool told = false;;) {
    try {
      return std::make_shared<const VectorStore>(file, words, dimension);
    } catch (const base::InputError& error) {
      if (std::chrono::steady_clock::now() - start >= patience) {
        const auto waited = base::with_thousands(static_cast<std::uint64_t>(std::llround(patience.count())));
        throw base::InputError(base::describe(
            "this rank cannot read the vectors that rank zero has written", "after " + waited + " s: " + error.what(),
            "is --output on a file system that all nodes share? STEREOSWEEP_FILE_TIMEOUT_S sets how long is waited."));
      }
      if (!told) {
        base::log(base::LogLevel::info, std::string("waiting for the vectors to appear here: ") + error.what());
        told = true;
      }
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
}

}  // namespace stereosweep::probes::contexts
