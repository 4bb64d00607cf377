// How alike some texts are: Self-BLEU (Zhu et al. 2018, SIGIR, "Texygen") and the entropy of their n-grams (Zhang et
// al. 2018, NeurIPS). A text is a list of words, each a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::stats {

using WordNumbers = std::vector<std::uint32_t>;

struct TextDiversity {
  /// Mean over the texts of their BLEU against all others: 0 nothing in common, 1 all equal. n-grams up to the order
  /// weigh alike, a count of 0 stands as 0.1 (Chen and Cherry 2014, method 1). `too_few`: one text.
  Value self_bleu;
  /// -sum p log2 p over the n-grams of all texts together, in bit. At most log2(num_ngrams).
  Value entropy;
  std::uint64_t num_texts = 0;   ///< compared: those with a whole n-gram
  std::uint64_t num_ngrams = 0;  ///< of the order, in all texts
};

/// Texts with fewer than `order` words are left out: they have no n-gram, and BLEU would give them the smoothing
/// constant. Every text counts, none is sampled. Time grows with the words; memory is 36 bytes a word. Throws
/// std::logic_error for order 0.
TextDiversity text_diversity(std::span<const WordNumbers> texts, std::size_t order);

}  // namespace stereosweep::stats
