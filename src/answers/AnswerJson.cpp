#include "answers/AnswerJson.hpp"

#include <cmath>
#include <vector>

#include "answers/Keywords.hpp"
#include "answers/Rating.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

using base::Json;

std::vector<std::string> names_of(const Json& value, const std::string& name) {
  auto texts = base::json_texts(value, name);
  base::refuse_if(texts.empty(), "field \"" + name + "\" is no list of texts", "it is empty");
  for (const auto& text : texts) {
    base::refuse_if(base::trim(text).empty(), "field \"" + name + "\" holds an empty text", "it has no name");
  }
  return texts;
}

Scale scale_of(base::JsonFields& fields) {
  Scale scale;
  if (const auto* options = fields.find("options")) {
    base::refuse_if(fields.find("low") != nullptr || fields.find("high") != nullptr,
                    "both \"options\" and \"low\", \"high\" are given", "a scale has words or numbers");
    scale.options = names_of(*options, "options");
    return scale;
  }
  scale.low = base::json_number(fields.need("low"), "low");
  scale.high = base::json_number(fields.need("high"), "high");
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

std::size_t most_of(const Json& value, const std::string& name) {
  const auto most = base::json_number(value, name);
  base::refuse_if(most < 1 || most > 10'000 || std::floor(most) != most,
                  "field \"" + name + "\" is no number of keywords", "a whole number from 1 to 10,000 is expected");
  return static_cast<std::size_t>(most);
}

}  // namespace

std::string parse_line(std::string_view line) {
  const auto object = base::parse_json(line, "line");
  base::JsonFields fields(object, "the line");
  const auto kind = base::json_text(fields.need("kind"), "kind");
  const std::vector<std::string> kinds = {"rating", "ratings", "keywords", "reasons"};
  base::refuse_if(!base::contains(kinds, kind), "unknown kind " + base::json_quote(kind),
                  "there are rating, ratings, keywords and reasons", base::did_you_mean(kind, kinds));
  const auto text = base::json_text(fields.need("text"), "text");
  bool is_finished = true;
  fields.take("finished", is_finished, base::json_boolean);
  const auto end = is_finished ? End::finished : End::cut_off;
  if (kind == "rating") {
    const auto scale = scale_of(fields);
    fields.refuse_unknown();
    return rating_json(parse_rating(text, scale, end)).dump();
  }
  if (kind == "ratings") {
    const auto items = names_of(fields.need("items"), "items");
    const auto scale = scale_of(fields);
    fields.refuse_unknown();
    return ratings_json(parse_ratings(text, items, scale, end)).dump();
  }
  if (kind == "keywords") {
    std::size_t most = 10;
    fields.take("most", most, most_of);
    fields.refuse_unknown();
    return keywords_json(parse_keywords(text, most, end)).dump();
  }
  const auto keywords = names_of(fields.need("keywords"), "keywords");
  fields.refuse_unknown();
  return reasons_json(parse_reasons(text, keywords, end)).dump();
}

}  // namespace stereosweep::answers
