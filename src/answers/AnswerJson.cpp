#include "answers/AnswerJson.hpp"

#include <vector>

#include "answers/Keywords.hpp"
#include "answers/Rating.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

using base::Json;

std::vector<std::string> names_of(const base::JsonValue& value) {
  auto texts = value.texts();
  value.refuse_if(texts.empty(), "is no list of texts", "it is empty");
  for (const auto& text : texts) {
    value.refuse_if(base::trim(text).empty(), "holds an empty text", "it has no name");
  }
  return texts;
}

Scale scale_of(const base::JsonValue& asked) {
  Scale scale;
  if (const auto options = asked["options"]) {
    asked.refuse_if(asked["low"] || asked["high"], "both \"options\" and \"low\", \"high\" are given",
                    "a scale has words or numbers");
    scale.options = names_of(options);
    return scale;
  }
  scale.low = asked["low"].number();
  scale.high = asked["high"].number();
  base::refuse_if(scale.low >= scale.high, "\"low\" is not below \"high\"", "the scale has no width");
  return scale;
}

Json number_json(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

const std::string& name_of(Status status) { return status_names[static_cast<std::size_t>(status)]; }

Json rating_json(const Rating& rating) {
  Json json{{"status", name_of(rating.status)}};
  if (rating.status == Status::answered) {
    json["value"] = number_json(rating.value);
  } else if (rating.status == Status::range) {
    json["low"] = number_json(rating.low);
    json["high"] = number_json(rating.high);
  }
  return json;
}

Json ratings_json(const std::vector<Rating>& ratings) {
  Json json{{"values", Json::array()}, {"statuses", Json::array()}};
  for (const auto& rating : ratings) {
    json["values"].push_back(rating.status == Status::answered ? number_json(rating.value) : Json());
    json["statuses"].push_back(name_of(rating.status));
  }
  return json;
}

Json keywords_json(const Keywords& keywords) {
  return {{"status", name_of(keywords.status)}, {"keywords", keywords.words}};
}

Json reasons_json(const std::vector<Reason>& reasons) {
  Json json{{"statuses", Json::array()}, {"reasons", Json::array()}};
  for (const auto& reason : reasons) {
    json["statuses"].push_back(name_of(reason.status));
    json["reasons"].push_back(reason.status == Status::answered ? Json(reason.text) : Json());
  }
  return json;
}

}  // namespace

std::string parse_line(std::string_view line) {
  const base::JsonDocument document{"line", base::parse_json(line, "line")};
  const auto asked = document.value();
  const auto kind = asked["kind"].text();
  const std::vector<std::string> kinds = {"rating", "ratings", "keywords", "reasons"};
  base::refuse_if(!base::contains(kinds, kind), "unknown kind " + base::json_quote(kind),
                  "there are rating, ratings, keywords and reasons", base::did_you_mean(kind, kinds));
  const auto text = asked["text"].text();
  const auto end = asked["finished"].flag_or(true) ? End::finished : End::cut_off;
  if (kind == "rating") {
    asked.refuse_others({"kind", "text", "finished", "options", "low", "high"});
    return rating_json(parse_rating(text, scale_of(asked), end)).dump();
  }
  if (kind == "ratings") {
    asked.refuse_others({"kind", "text", "finished", "items", "options", "low", "high"});
    return ratings_json(parse_ratings(text, names_of(asked["items"]), scale_of(asked), end)).dump();
  }
  if (kind == "keywords") {
    asked.refuse_others({"kind", "text", "finished", "most"});
    const auto most = asked["most"] ? asked["most"].whole<std::size_t>(1, 10'000) : 10;
    return keywords_json(parse_keywords(text, most, end)).dump();
  }
  asked.refuse_others({"kind", "text", "finished", "keywords"});
  return reasons_json(parse_reasons(text, names_of(asked["keywords"]), end)).dump();
}

}  // namespace stereosweep::answers
