#include "stats/TextDiversity.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/Error.hpp"

namespace stereosweep::stats {
namespace {

constexpr double smoothing = 0.1;  // nltk's method 1, as Texygen calls it

/// Where an n-gram begins. Texts stand one behind the other.
struct Ngram {
  std::uint64_t key = 0;  ///< number of its first n - 1 words, and its last word
  std::uint32_t text = 0;
  std::size_t place = 0;
  auto operator<=>(const Ngram&) const = default;
};

/// The n-grams of one order after the other; equal ones have equal numbers.
class NgramCounter {
 public:
  explicit NgramCounter(std::vector<const WordNumbers*> texts) : texts_(std::move(texts)), matches_(texts_.size()) {
    for (const auto* text : texts_) {
      numbers_.resize(numbers_.size() + text->size(), 0);
    }
  }

  /// Goes on to n-grams that are one word longer.
  void lengthen() {
    ++length_;
    occurrences_.clear();
    std::size_t first = 0;
    for (std::size_t text = 0; text < texts_.size(); ++text) {
      const auto& words = *texts_[text];
      for (std::size_t at = 0; at + length_ <= words.size(); ++at) {
        occurrences_.push_back({std::uint64_t{numbers_[first + at]} << 32U | words[at + length_ - 1],
                                static_cast<std::uint32_t>(text), first + at});
      }
      first += words.size();
    }
    std::ranges::sort(occurrences_);
    counts_.clear();
    std::ranges::fill(matches_, 0);
    for (std::size_t begin = 0, end = 0; begin < occurrences_.size(); begin = end) {
      while (end < occurrences_.size() && occurrences_[end].key == occurrences_[begin].key) {
        numbers_[occurrences_[end].place] = static_cast<std::uint32_t>(counts_.size());
        ++end;
      }
      match(begin, end);
      counts_.push_back(end - begin);
    }
  }

  const std::vector<std::uint64_t>& counts() const { return counts_; }
  /// n-grams of the text that others have, each at most as often as the one that has it most.
  std::uint64_t matches(std::size_t text) const { return matches_[text]; }

 private:
  /// One n-gram, its occurrences by text: the most that another text has is the largest count, or the second largest
  /// for the text that has the largest itself.
  void match(std::size_t begin, std::size_t end) {
    by_text_.clear();
    for (auto at = begin; at < end; ++at) {
      const auto text = occurrences_[at].text;
      if (by_text_.empty() || by_text_.back().first != text) {
        by_text_.emplace_back(text, 0);
      }
      ++by_text_.back().second;
    }
    std::uint64_t largest = 0;
    std::uint64_t second = 0;
    for (const auto& [text, count] : by_text_) {
      second = std::max(second, std::min(count, largest));
      largest = std::max(largest, count);
    }
    for (const auto& [text, count] : by_text_) {
      matches_[text] += std::min(count, count == largest ? second : largest);
    }
  }

  std::vector<const WordNumbers*> texts_;
  std::vector<std::uint64_t> matches_;
  std::vector<Ngram> occurrences_;
  std::vector<std::uint32_t> numbers_;  ///< [place] of the n-gram that begins there
  std::vector<std::uint64_t> counts_;   ///< [number]
  std::vector<std::pair<std::uint32_t, std::uint64_t>> by_text_;
  std::size_t length_ = 0;
};

/// Length of another text that is nearest to this one's; of two the shorter.
std::size_t closest_length(const std::map<std::size_t, std::size_t>& lengths, std::size_t own) {
  const auto found = lengths.find(own);
  if (found->second > 1) {
    return own;
  }
  const auto longer = std::next(found);
  if (found == lengths.begin()) {
    return longer->first;
  }
  const auto shorter = std::prev(found);
  return longer != lengths.end() && longer->first - own < own - shorter->first ? longer->first : shorter->first;
}

Value entropy_of(const std::vector<std::uint64_t>& counts, std::uint64_t total) {
  if (total == 0) {
    return {};
  }
  long double sum = 0;
  for (const auto count : counts) {
    const long double share = static_cast<long double>(count) / static_cast<long double>(total);
    sum -= share * std::log2(share);
  }
  return {static_cast<double>(sum), Reason::ok};
}

}  // namespace

TextDiversity text_diversity(std::span<const WordNumbers> texts, std::size_t order) {
  STEREOSWEEP_ASSERT(order > 0, "n-grams have a word");
  std::vector<const WordNumbers*> compared;
  std::map<std::size_t, std::size_t> lengths;
  for (const auto& text : texts) {
    if (text.size() >= order) {
      compared.push_back(&text);
      ++lengths[text.size()];
    }
  }
  TextDiversity diversity;
  diversity.num_texts = compared.size();
  NgramCounter ngrams(compared);
  std::vector<double> logarithms(compared.size(), 0);  // of the precisions, each weighted
  std::vector<bool> has_match(compared.size(), true);
  for (std::size_t length = 1; length <= order; ++length) {
    ngrams.lengthen();
    for (std::size_t text = 0; text < compared.size(); ++text) {
      const auto matches = static_cast<double>(ngrams.matches(text));
      has_match[text] = has_match[text] && (length > 1 || matches > 0);
      logarithms[text] +=
          std::log((matches > 0 ? matches : smoothing) / static_cast<double>(compared[text]->size() - length + 1)) /
          static_cast<double>(order);
    }
  }
  for (const auto count : ngrams.counts()) {
    diversity.num_ngrams += count;
  }
  diversity.entropy = entropy_of(ngrams.counts(), diversity.num_ngrams);
  if (compared.size() < 2) {
    diversity.self_bleu.reason = compared.empty() ? Reason::no_values : Reason::too_few;
    return diversity;
  }
  std::vector<double> scores;
  for (std::size_t text = 0; text < compared.size(); ++text) {
    const auto own = static_cast<double>(compared[text]->size());
    const auto closest = static_cast<double>(closest_length(lengths, compared[text]->size()));
    scores.push_back(has_match[text] ? std::exp(logarithms[text] + std::min(0.0, 1 - closest / own)) : 0);
  }
  diversity.self_bleu = mean(scores);
  return diversity;
}

}  // namespace stereosweep::stats
