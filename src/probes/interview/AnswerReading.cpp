#include <algorithm>
#include <tuple>

#include "answers/Keywords.hpp"
#include "answers/Rating.hpp"
#include "base/Lists.hpp"
#include "probes/interview/InterviewProbe.hpp"

namespace stereosweep::probes::interview {
namespace {

answers::End end_of(const SampledText& sampled) {
  return sampled.ending == AnswerEnding::length ? answers::End::cut_off : answers::End::finished;
}

std::uint8_t code_of(answers::Status status) { return static_cast<std::uint8_t>(status); }

answers::Scale scale_of(const RatingScale& scale) {
  return {static_cast<double>(scale.from), static_cast<double>(scale.to),
          base::mapped(scale.options, &RatingOption::text)};
}

ReadRating rating_of(const answers::Rating& parsed, const RatingScale& scale) {
  const auto value_of = [&](double value) {
    return scale.options.empty() || !(value >= 0) ? value : scale.options.at(static_cast<std::size_t>(value)).value;
  };
  ReadRating rating{.status = code_of(parsed.status)};
  if (parsed.status == answers::Status::answered) {
    rating.value = value_of(parsed.value);
  } else if (parsed.status == answers::Status::range) {
    std::tie(rating.low, rating.high) = std::minmax(value_of(parsed.low), value_of(parsed.high));
  }
  return rating;
}

void read_ratings(const Conversation& conversation, const Turn& turn, const SampledText& sampled,
                  std::vector<ReadRating>& ratings) {
  const auto scale = scale_of(conversation.scale);
  if (turn.kind == Turn::Kind::rating) {
    ratings.push_back(rating_of(answers::parse_rating(sampled.text, scale, end_of(sampled)), conversation.scale));
    return;
  }
  const auto items = base::mapped(turn.items, &RatedItem::text);
  for (const auto& parsed : answers::parse_ratings(sampled.text, items, scale, end_of(sampled))) {
    ratings.push_back(rating_of(parsed, conversation.scale));
  }
}

}  // namespace

const std::vector<std::string>& reading_names() {
  static const auto names = [] {
    auto all = answers::status_names;
    all.insert(all.end(), {"no_text", "not_asked"});
    return all;
  }();
  return names;
}

std::uint8_t no_text() { return static_cast<std::uint8_t>(answers::status_names.size()); }

std::uint8_t not_asked() { return static_cast<std::uint8_t>(answers::status_names.size() + 1); }

ReadConversation read_answers(const Conversation& conversation, std::span<const std::optional<SampledText>> texts) {
  ReadConversation read;
  read.keyword_status = not_asked();
  for (std::size_t index = 0; index < conversation.turns.size(); ++index) {
    const auto& turn = conversation.turns[index];
    const auto& sampled = texts[index];
    const bool has_text = sampled && sampled->ending != AnswerEnding::none;
    const auto absent = sampled ? no_text() : not_asked();
    if (!has_text) {
      read.ratings.insert(read.ratings.end(), turn.items.size(), ReadRating{.status = absent});
      read.keyword_status = turn.kind == Turn::Kind::keywords ? absent : read.keyword_status;
      if (turn.kind == Turn::Kind::reasons) {
        read.reasons.assign(read.keywords.size(), ReadReason{absent, ""});
      }
    } else if (turn.kind == Turn::Kind::keywords) {
      auto parsed = answers::parse_keywords(sampled->text, static_cast<std::size_t>(turn.most), end_of(*sampled));
      read.keyword_status = code_of(parsed.status);
      read.keywords = std::move(parsed.words);
    } else if (turn.kind == Turn::Kind::reasons) {
      for (auto& reason : answers::parse_reasons(sampled->text, read.keywords, end_of(*sampled))) {
        read.reasons.push_back({code_of(reason.status), std::move(reason.text)});
      }
    } else if (!turn.items.empty()) {
      read_ratings(conversation, turn, *sampled, read.ratings);
    }
  }
  return read;
}

std::int32_t rules_version() { return answers::rules_version; }

}  // namespace stereosweep::probes::interview
