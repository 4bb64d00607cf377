// How alike the sampled texts of an interview are: Self-BLEU and n-gram entropy (stats/TextDiversity.hpp) of the
// answers to one turn of a conversation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "results/RawBlock.hpp"
#include "stats/TextDiversity.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::probes::interview {

/// Words of the n-grams, and of the longest n-grams of Self-BLEU.
inline constexpr std::array<std::size_t, 2> ngram_orders = {2, 3};

/// Which texts are compared with one another.
struct TextDiversities {
  std::vector<stats::TextDiversity> over_rounds;  ///< [group, conversation, template, rephrasing, turn, order]
  /// [group, conversation, turn, order]: all templates, rephrasings and rounds.
  std::vector<stats::TextDiversity> over_wordings;
  /// [conversation, template, turn, order]: all groups, rephrasings and rounds.
  std::vector<stats::TextDiversity> over_groups;
};

/// The lower-case words, numbers and punctuation marks of a text (room answers: without markup and line ends), each
/// word with a number of its own.
class WordNumbering {
 public:
  stats::WordNumbers operator()(std::string_view text);

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// Takes the contexts of a file one after the other, from the first. Keeps 4 bytes a word of all texts.
class TextDiversityCollector {
 public:
  explicit TextDiversityCollector(const results::RawSchema& schema);
  /// `place`: of the context in the block. Texts whose answer_status is not ok are left out.
  void add(std::uint64_t context, const results::RawBlock& block, std::uint64_t place);
  /// After the last context.
  TextDiversities take();

 private:
  using Texts = std::vector<stats::WordNumbers>;
  static void compare(const Texts& texts, std::vector<stats::TextDiversity>& found);

  sweep::Product product_;
  std::size_t text_column_;
  std::size_t status_column_;
  std::size_t num_rounds_;
  std::size_t num_turns_;
  WordNumbering number_;
  std::vector<Texts> of_group_;  ///< [turn], of one group and conversation
  std::vector<Texts> of_form_;   ///< [conversation, template, turn]
  TextDiversities found_;
};

}  // namespace stereosweep::probes::interview
