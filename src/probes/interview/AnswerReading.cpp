#include <algorithm>
#include <tuple>

#include "answers/Keywords.hpp"
#include "answers/Rating.hpp"
#include "base/Lists.hpp"
#include "probes/interview/Interview.hpp"

namespace stereosweep::probes::interview {
namespace {

using answers::Status;

/// Options by their values in place of their places.
answers::Rating valued(answers::Rating rating, const RatingScale& scale) {
  for (auto* value : {&rating.value, &rating.low, &rating.high}) {
    const bool is_option = !scale.options.empty() && *value >= 0;
    *value = is_option ? scale.options.at(static_cast<std::size_t>(*value)).value : *value;
  }
  std::tie(rating.low, rating.high) = std::minmax({rating.low, rating.high});
  return rating;
}

/// By the items of a turn that rates.
std::vector<answers::Rating> ratings_in(const std::string& text, const Turn& turn, const RatingScale& rated,
                                        answers::End end) {
  const answers::Scale scale = {static_cast<double>(rated.from), static_cast<double>(rated.to),
                                base::mapped(rated.options, &RatingOption::text)};
  return turn.kind == Turn::Kind::rating
             ? std::vector{answers::parse_rating(text, scale, end)}
             : answers::parse_ratings(text, base::mapped(turn.items, &RatedItem::text), scale, end);
}

std::uint8_t code_of(Status status) { return static_cast<std::uint8_t>(status); }

}  // namespace

void read_texts(results::RawBlock& block, const results::RawSchema& schema, const Conversation& conversation,
                std::size_t row) {
  const auto put = [&]<class Value>(const char* cube, std::size_t cell, Value value) {
    column_named<Value>(block, schema, cube)[cell] = std::move(value);
  };
  std::size_t item = 0;  // its cell
  if (conversation.rates()) {
    const auto& axis = schema.inner_axis("item");
    const auto& asking = coordinate_of(axis, "conversation");
    item = row * axis.labels.size() +
           static_cast<std::size_t>(std::ranges::find(asking, conversation.label) - asking.begin());
  }
  answers::Keywords keywords = {.status = Status::not_asked, .words = {}};
  std::vector<answers::Reason> reasons;
  for (std::size_t place = 0; place < conversation.turns.size(); ++place) {
    const auto& turn = conversation.turns[place];
    const auto cell = row * schema.inner_axis("turn").labels.size() + place;
    const auto status = static_cast<AnswerStatus>(column_named<std::uint8_t>(block, schema, "answer_status")[cell]);
    const auto ending = static_cast<AnswerEnding>(column_named<std::uint8_t>(block, schema, "answer_ending")[cell]);
    const auto end = ending == AnswerEnding::length ? answers::End::cut_off : answers::End::finished;
    const auto why = status == AnswerStatus::not_asked ? Status::not_asked : Status::no_text;
    const bool is_read = status != AnswerStatus::not_asked && ending != AnswerEnding::none;
    const auto& text = column_named<std::string>(block, schema, "answer_text")[cell];
    if (turn.kind == Turn::Kind::keywords) {
      keywords = is_read ? answers::parse_keywords(text, static_cast<std::size_t>(turn.most), end)
                         : answers::Keywords{why, {}};
    } else if (turn.kind == Turn::Kind::reasons) {
      reasons = is_read ? answers::parse_reasons(text, keywords.words, end)
                        : std::vector(keywords.words.size(), answers::Reason{why, ""});
    } else if (turn.kind != Turn::Kind::text) {
      for (const auto& read : is_read ? ratings_in(text, turn, conversation.scale, end)
                                      : std::vector(turn.items.size(), answers::Rating{.status = why})) {
        const auto rating = valued(read, conversation.scale);
        put("rating", item, rating.value);
        put("rating_low", item, rating.low);
        put("rating_high", item, rating.high);
        put("rating_status", item++, code_of(rating.status));
      }
    }
  }
  const auto num_places = schema.find_cube("keyword") ? schema.inner_axis("place").labels.size() : 0;
  if (num_places > 0) {
    put("keyword_status", row, code_of(keywords.status));
    put("num_keywords", row, static_cast<std::int32_t>(keywords.words.size()));
  }
  keywords.words.resize(num_places);
  reasons.resize(schema.find_cube("reason") ? num_places : 0, {Status::not_asked, ""});
  for (std::size_t place = 0; place < num_places; ++place) {
    put("keyword", row * num_places + place, keywords.words[place]);
    if (place < reasons.size()) {
      put("reason", row * num_places + place, reasons[place].text);
      put("reason_status", row * num_places + place, code_of(reasons[place].status));
    }
  }
}

}  // namespace stereosweep::probes::interview
