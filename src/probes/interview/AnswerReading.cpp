#include <algorithm>
#include <tuple>

#include "answers/Keywords.hpp"
#include "answers/Rating.hpp"
#include "base/Lists.hpp"
#include "probes/interview/InterviewProbe.hpp"

namespace stereosweep::probes::interview {
namespace {

using answers::Status;

/// What the texts of a conversation say.
struct Reading {
  std::vector<answers::Rating> ratings;  ///< by the items of the conversation's turns, in order
  answers::Keywords keywords = {.status = Status::not_asked, .words = {}};  ///< at most as many as the turn keeps
  std::vector<answers::Reason> reasons;  ///< by keyword; empty where no turn asks for them
};

/// Options by their values in place of their places.
answers::Rating valued(answers::Rating rating, const RatingScale& scale) {
  for (auto* value : {&rating.value, &rating.low, &rating.high}) {
    const bool is_option = !scale.options.empty() && *value >= 0;
    *value = is_option ? scale.options.at(static_cast<std::size_t>(*value)).value : *value;
  }
  std::tie(rating.low, rating.high) = std::minmax({rating.low, rating.high});
  return rating;
}

void read_text(const Conversation& conversation, const Turn& turn, const std::string& text, answers::End end,
               Reading& read) {
  const answers::Scale scale = {static_cast<double>(conversation.scale.from),
                                static_cast<double>(conversation.scale.to),
                                base::mapped(conversation.scale.options, &RatingOption::text)};
  if (turn.kind == Turn::Kind::keywords) {
    read.keywords = answers::parse_keywords(text, static_cast<std::size_t>(turn.most), end);
  } else if (turn.kind == Turn::Kind::reasons) {
    read.reasons = answers::parse_reasons(text, read.keywords.words, end);
  } else if (turn.kind == Turn::Kind::rating) {
    read.ratings.push_back(valued(answers::parse_rating(text, scale, end), conversation.scale));
  } else if (turn.kind == Turn::Kind::ratings) {
    const auto items = base::mapped(turn.items, &RatedItem::text);
    for (const auto& rating : answers::parse_ratings(text, items, scale, end)) {
      read.ratings.push_back(valued(rating, conversation.scale));
    }
  }
}

void leave_out(const Turn& turn, Status why, Reading& read) {
  read.ratings.insert(read.ratings.end(), turn.items.size(), {.status = why});
  if (turn.kind == Turn::Kind::keywords) {
    read.keywords.status = why;
  } else if (turn.kind == Turn::Kind::reasons) {
    read.reasons.assign(read.keywords.words.size(), {why, ""});
  }
}

std::uint8_t code_of(Status status) { return static_cast<std::uint8_t>(status); }

}  // namespace

void read_texts(results::RawBlock& block, const results::RawSchema& schema, const Conversation& conversation,
                std::size_t row) {
  Reading read;
  for (std::size_t turn = 0; turn < conversation.turns.size(); ++turn) {
    const auto cell = row * schema.inner_axis("turn").labels.size() + turn;
    const auto status = static_cast<AnswerStatus>(column_named<std::uint8_t>(block, schema, "answer_status")[cell]);
    const auto ending = static_cast<AnswerEnding>(column_named<std::uint8_t>(block, schema, "answer_ending")[cell]);
    if (status == AnswerStatus::not_asked || ending == AnswerEnding::none) {
      leave_out(conversation.turns[turn], status == AnswerStatus::not_asked ? Status::not_asked : Status::no_text,
                read);
    } else {
      read_text(conversation, conversation.turns[turn], column_named<std::string>(block, schema, "answer_text")[cell],
                ending == AnswerEnding::length ? answers::End::cut_off : answers::End::finished, read);
    }
  }
  const auto put = [&]<class Value>(const char* cube, std::size_t cell, Value value) {
    column_named<Value>(block, schema, cube)[cell] = std::move(value);
  };
  if (!read.ratings.empty()) {
    const auto& axis = schema.inner_axis("item");
    const auto& asking = coordinate_of(axis, "conversation");
    auto cell = row * axis.labels.size() +
                static_cast<std::size_t>(std::ranges::find(asking, conversation.label) - asking.begin());
    for (const auto& rating : read.ratings) {
      put("rating", cell, rating.value);
      put("rating_low", cell, rating.low);
      put("rating_high", cell, rating.high);
      put("rating_status", cell++, code_of(rating.status));
    }
  }
  const auto& words = read.keywords.words;
  const auto num_places = schema.find_cube("keyword") ? schema.inner_axis("place").labels.size() : 0;
  if (num_places > 0) {
    put("keyword_status", row, code_of(read.keywords.status));
    put("num_keywords", row, static_cast<std::int32_t>(words.size()));
  }
  read.reasons.resize(schema.find_cube("reason") ? num_places : 0, {Status::not_asked, ""});
  for (std::size_t place = 0; place < num_places; ++place) {
    put("keyword", row * num_places + place, place < words.size() ? words[place] : "");
    if (place < read.reasons.size()) {
      put("reason", row * num_places + place, read.reasons[place].text);
      put("reason_status", row * num_places + place, code_of(read.reasons[place].status));
    }
  }
}

}  // namespace stereosweep::probes::interview
