// Target plans by the neighbourhood of the word's place: a sweep has millions of contexts but few neighbourhoods.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "probes/association/Association.hpp"
#include "probes/association/TargetPlan.hpp"

namespace stereosweep::probes::association {

/// How the words of a place are written: as listed, or with a capital at the start of a sentence.
enum class WordCase : std::uint8_t { as_listed, capitalised };

/// Safe to use from several threads. Answers are a function of the arguments alone; the cache only saves time.
class PlanCache {
 public:
  /// `tokenizer` must outlive it.
  PlanCache(const tokenizer::Tokenizer& tokenizer, std::vector<std::string> words, const Measures& measures,
            std::uint32_t max_subwords);
  std::shared_ptr<const TargetPlan> find(const Surroundings& surroundings, WordCase word_case) const;
  /// Pieces of every word at a place, always tokenized anew (audits).
  std::vector<WordPieces> pieces(const Surroundings& surroundings, WordCase word_case) const;
  const std::vector<std::string>& words(WordCase word_case) const;
  std::uint32_t max_subwords() const { return max_subwords_; }

 private:
  std::shared_ptr<const TargetPlan> make(const Surroundings& surroundings, WordCase word_case,
                                         const std::string& key) const;

  const tokenizer::Tokenizer& tokenizer_;
  std::string mask_token_;
  std::vector<std::string> words_;
  std::vector<std::string> capitalised_;
  Measures measures_;
  std::uint32_t max_subwords_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const TargetPlan>> plans_;  ///< null: not local
};

}  // namespace stereosweep::probes::association
