#include "probes/contexts/vectors/VectorStore.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/files/PendingFile.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::probes::contexts {
namespace {

constexpr std::uint64_t alignment = 64;

/// What stands at the end of the store of these words.
base::Digest identity_of(std::span<const WordVectors> words, std::uint64_t dimension) {
  base::Sha256 hash;
  hash.field("stereosweep-store/2").number(dimension);
  for (const auto& word : words) {
    hash.field(word.word).number(word.usable).update(std::as_bytes(std::span(word.digest)));
  }
  return hash.finish();
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

template <class Value>
std::string_view text_of(std::span<const Value> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

std::vector<WordVectors> write_vectors(const std::filesystem::path& path, std::vector<WordVectors> words,
                                       std::uint64_t dimension, const std::function<void(const AddVector&)>& give) {
  base::PendingFile pending(path);
  std::vector<base::Sha256> hashes(words.size());
  std::vector<double> inverse_lengths;
  std::ranges::for_each(words, [](auto& word) { word.usable = 0; });
  std::uint64_t last = 0;
  give([&](std::uint64_t word, std::span<const float> vector) {
    STEREOSWEEP_ASSERT(word >= last && word < words.size() && vector.size() == dimension, "rows out of order");
    last = word;
    ++words[word].usable;
    hashes[word].update(std::as_bytes(vector));
    inverse_lengths.push_back(inverse_length_of(vector));
    pending.write(text_of(vector));
  });
  for (std::size_t word = 0; word < words.size(); ++word) {
    words[word].digest = hashes[word].finish();
  }
  const auto rows = inverse_lengths.size();
  pending.write(std::string(bytes_of_rows(rows, dimension) - rows * dimension * sizeof(float), '\0'));
  pending.write(text_of(std::span<const double>(inverse_lengths)));
  pending.write(text_of(std::span<const std::uint8_t>(identity_of(words, dimension))));
  pending.commit();
  return words;
}

VectorStore::VectorStore(const std::filesystem::path& path, std::span<const WordVectors> words, std::uint64_t dimension)
    : content_(base::open_file(path).mapped()), dimension_(dimension), first_{0} {
  const auto identity = identity_of(words, dimension);
  const auto bytes = content_.bytes();
  base::refuse_if(bytes.size() < identity.size() ||
                      !std::ranges::equal(bytes.last(identity.size()), std::as_bytes(std::span(identity))),
                  "'" + path.string() + "' is not the store of this run's vectors", "it is damaged or another run's");
  for (const auto& word : words) {
    first_.push_back(first_.back() + word.usable);
  }
  const auto rows = bytes_of_rows(first_.back(), dimension);
  base::refuse_if(bytes.size() != rows + first_.back() * sizeof(double) + identity.size(),
                  "'" + path.string() + "' is damaged", "its size does not fit its words");
  rows_ = reinterpret_cast<const float*>(bytes.data());
  inverse_lengths_ = reinterpret_cast<const double*>(bytes.data() + rows);
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
        base::refuse(
            "this rank cannot read the vectors that rank zero has written", "after " + waited + " s: " + error.what(),
            "is --output on a file system that all nodes share? STEREOSWEEP_FILE_TIMEOUT_S sets how long is waited.");
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
