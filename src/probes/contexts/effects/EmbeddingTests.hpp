// Which words of a test take part once it is known which of them have vectors: sets without the missing words,
// trimmed where the job says so.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files/Sha256.hpp"
#include "probes/contexts/Contexts.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::probes::contexts {

/// What is known of one word.
struct WordVectors {
  std::string word;
  std::uint64_t found = 0;   ///< contexts in the corpus; 1 or 0 with static vectors
  std::uint64_t stored = 0;  ///< of these, in the sample
  std::uint64_t usable = 0;  ///< of these, with a vector
  base::Digest digest{};     ///< of the usable vectors
  /// Of made sentences: template x rephrasing of each usable vector, as a place in `frame_labels`. Else empty.
  std::vector<std::uint32_t> frames = {};
};

/// Distinct words of all sets, in order of first appearance (x, y, a, b of each test).
std::vector<std::string> list_words(const std::vector<EmbeddingTest>& tests);

/// "targets that are attributes as well: ...", words compared as the job compares them; "" where there are none.
std::string shared_words(const Contexts& settings, const EmbeddingTest& test);

/// The axis of all words of a job, with the counts of `WordVectors`.
results::AxisSchema word_axis(const std::vector<WordVectors>& words);

/// The sets of a test, in the order of `TestInUse::sets`.
enum class SetRole : std::uint8_t { x, y, a, b };
inline constexpr std::array<const char*, 4> set_role_names = {"x", "y", "a", "b"};

struct TestInUse {
  EmbeddingTest test;
  std::array<std::vector<std::uint32_t>, 4> sets;   ///< places in the list of words, in the order of the job
  std::array<std::vector<std::string>, 4> missing;  ///< words without a vector
  std::array<std::vector<std::string>, 4> trimmed;  ///< words that the draw left out (UnequalSets::trim)
  std::vector<std::string> remarks;                 ///< why its numbers are not to be taken as they stand
  bool is_possible = true;                          ///< whether an effect can be computed
  const std::vector<std::uint32_t>& places(SetRole role) const { return sets[static_cast<std::size_t>(role)]; }
  /// "without aster, clover (no vector); ..." or "all words"; one line for people.
  std::string consequence() const;
  /// Whether contexts were lost, sets share words, less than half of a set takes part, samples cannot differ, or
  /// nothing can be computed.
  bool is_doubtful() const { return !remarks.empty(); }
};

/// `words` runs parallel to list_words(settings.tests). The draw of a trimmed set is keyed by seed, test, set and word.
std::vector<TestInUse> tests_in_use(const Contexts& settings, std::uint64_t seed, std::span<const WordVectors> words);

/// Name of a test or word among Philox's counter words: the first four bytes of its SHA-256, so that a draw depends on
/// nothing that stands beside it in the job.
std::uint32_t draw_name(const std::string& text);

}  // namespace stereosweep::probes::contexts
