#include "probes/interview/statistics/TextDiversities.hpp"

#include <utility>

#include "answers/text/PlainText.hpp"
#include "probes/Probe.hpp"
#include "probes/interview/InterviewProbe.hpp"

namespace stereosweep::probes::interview {
stats::WordNumbers WordNumbering::operator()(std::string_view text) {
  const auto plain = answers::plain_text(text);
  const answers::TokenizedText tokenized(plain);
  stats::WordNumbers words;
  for (const auto& token : tokenized.tokens()) {
    if (token.kind != answers::Token::Kind::line_end) {
      words.push_back(
          numbers_.try_emplace(std::string(token.text), static_cast<std::uint32_t>(numbers_.size())).first->second);
    }
  }
  return words;
}

TextDiversityCollector::TextDiversityCollector(const results::RawSchema& schema)
    : product_(product_of(schema)),
      text_column_(cube_index(schema, "answer_text")),
      status_column_(cube_index(schema, "answer_status")),
      num_rounds_(schema.inner_axis("round").labels.size()),
      num_turns_(schema.inner_axis("turn").labels.size()),
      of_group_(num_turns_),
      of_form_(schema.outer_axes.at(1).labels.size() * schema.outer_axes.at(2).labels.size() * num_turns_) {}

void TextDiversityCollector::compare(const Texts& texts, std::vector<stats::TextDiversity>& found) {
  for (const auto order : ngram_orders) {
    found.push_back(stats::text_diversity(texts, order));
  }
}

void TextDiversityCollector::add(std::uint64_t context, const results::RawBlock& block, std::uint64_t place) {
  const auto at = product_.coordinates(context);
  const auto& lengths = product_.lengths();
  const auto& texts = column_of<std::string>(block, text_column_);
  const auto& statuses = column_of<std::uint8_t>(block, status_column_);
  for (std::size_t turn = 0; turn < num_turns_; ++turn) {
    Texts of_rounds;
    for (std::size_t round = 0; round < num_rounds_; ++round) {
      const auto cell = (place * num_rounds_ + round) * num_turns_ + turn;
      if (statuses[cell] == static_cast<std::uint8_t>(AnswerStatus::ok)) {
        of_rounds.push_back(number_(texts[cell]));
      }
    }
    compare(of_rounds, found_.over_rounds);
    auto& of_form = of_form_[(at[1] * lengths[2] + at[2]) * num_turns_ + turn];
    of_form.insert(of_form.end(), of_rounds.begin(), of_rounds.end());
    auto& of_group = of_group_[turn];
    of_group.insert(of_group.end(), of_rounds.begin(), of_rounds.end());
  }
  if (at[2] + 1 == lengths[2] && at[3] + 1 == lengths[3]) {
    for (auto& of_group : of_group_) {
      compare(of_group, found_.over_wordings);
      of_group.clear();
    }
  }
}

TextDiversities TextDiversityCollector::take() {
  for (auto& of_form : of_form_) {
    compare(of_form, found_.over_groups);
    of_form = {};
  }
  return std::move(found_);
}

}  // namespace stereosweep::probes::interview
