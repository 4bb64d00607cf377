// A contexts result as tests and their samples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/contexts/Contexts.hpp"
#include "results/Reader.hpp"

namespace stereosweep::probes::contexts {

/// What the axis of the tests says.
struct ContextsTest {
  std::string label;
  std::string title;
  EmbeddingTest::Kind kind = EmbeddingTest::Kind::weat;
  std::array<std::string, 4> sets;                ///< labels of X, Y, A, B
  std::array<std::vector<std::string>, 4> words;  ///< that take part, of X, Y, A, B
  std::string consequence;                        ///< of missing and trimmed words, one line
  std::size_t num_targets() const { return words[0].size() + words[1].size(); }
  std::size_t num_attributes() const { return words[2].size() + words[3].size(); }
};

/// Samples of one test. NaN where a number does not exist. A target: a word of X, then of Y; an attribute: a word of A,
/// then of B.
class ContextsSamples {
 public:
  ContextsSamples(const results::RawSchema& schema, results::RawBlock block);
  ContextsSamples(const ContextsSamples&) = delete;
  ContextsSamples& operator=(const ContextsSamples&) = delete;
  std::size_t size() const { return status_->size(); }
  /// An index into status_names.
  std::uint8_t status(std::size_t sample) const { return (*status_)[sample]; }
  double association(std::size_t sample, std::size_t target) const {
    return (*association_)[sample * num_targets_ + target];
  }
  // Of a weat test.
  double effect_size(std::size_t sample) const { return (*effect_size_)[sample]; }
  double association_variance(std::size_t sample) const { return (*association_variance_)[sample]; }
  // Of a wefat test.
  double deviation(std::size_t sample, std::size_t target) const {
    return (*deviation_)[sample * num_targets_ + target];
  }
  double cosine(std::size_t sample, std::size_t target, std::size_t attribute) const {
    return static_cast<double>((*cosine_)[(sample * num_targets_ + target) * num_attributes_ + attribute]);
  }

 private:
  results::RawBlock block_;
  std::size_t num_targets_;         ///< slots, of which a test fills the first
  std::size_t num_attributes_ = 0;  ///< likewise
  const std::vector<double>* association_;
  const std::vector<double>* effect_size_;
  const std::vector<double>* association_variance_;
  const std::vector<std::uint8_t>* status_;
  const std::vector<double>* deviation_ = nullptr;
  const std::vector<float>* cosine_ = nullptr;
};

class ContextsReader {
 public:
  /// `file` is borrowed. Throws InputError if it is no contexts result.
  explicit ContextsReader(const results::ResultFile& file);
  const std::vector<ContextsTest>& tests() const { return tests_; }
  std::size_t num_samples() const { return num_samples_; }
  const std::vector<std::string>& status_names() const { return status_names_; }
  /// Contexts with a vector of every word of the job; 1 or 0 with static vectors.
  const std::map<std::string, std::uint64_t>& word_contexts() const { return word_contexts_; }
  ContextsSamples read(std::size_t test) const { return read(test, 0, num_samples_); }
  ContextsSamples read(std::size_t test, std::size_t first_sample, std::size_t count) const;
  /// That reading one sample of a test takes.
  std::size_t numbers_per_sample() const;

 private:
  const results::ResultFile& file_;
  std::vector<ContextsTest> tests_;
  std::size_t num_samples_ = 0;
  std::vector<std::string> status_names_;
  std::map<std::string, std::uint64_t> word_contexts_;
};

}  // namespace stereosweep::probes::contexts
