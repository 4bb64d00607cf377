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

/// All samples of one test. NaN where a number does not exist.
struct ContextsSamples {
  std::vector<double> association;           ///< [sample, target]: words of X, then of Y
  std::vector<double> deviation;             ///< [sample, target] of a wefat test, else empty
  std::vector<float> cosine;                 ///< [sample, target, attribute] of a wefat test: words of A, then of B
  std::vector<double> effect_size;           ///< [sample] of a weat test
  std::vector<double> association_variance;  ///< [sample] of a weat test
  std::vector<std::uint8_t> status;          ///< [sample], an index into status_names
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
  std::size_t column(const std::string& name) const;
  std::vector<double> targets(const results::RawBlock& block, const std::string& cube, std::size_t test) const;
  std::vector<float> cosines(const results::RawBlock& block, std::size_t test) const;

  const results::ResultFile& file_;
  std::vector<ContextsTest> tests_;
  std::size_t num_samples_ = 0;
  std::size_t num_slots_ = 0;
  std::vector<std::string> status_names_;
  std::map<std::string, std::uint64_t> word_contexts_;
};

}  // namespace stereosweep::probes::contexts
