#include "answers/AnswerJson.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "answers/Keywords.hpp"
#include "answers/Rating.hpp"
#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Text.hpp"

namespace stereosweep::answers {
namespace {

using base::Json;

const Json& field(const Json& object, const std::string& name) {
  const auto found = object.find(name);
  base::refuse_if(found == object.end(), "field \"" + name + "\" is missing", "this kind of answer needs it");
  return *found;
}

std::string text_of(const Json& value, const std::string& name) {
  base::refuse_if(!value.is_string(), "field \"" + name + "\" is no string", "found " + std::string(value.type_name()));
  return value.get<std::string>();
}

std::vector<std::string> texts_of(const Json& value, const std::string& name) {
  base::refuse_if(!value.is_array() || value.empty(), "field \"" + name + "\" is no list of texts",
                  value.is_array() ? "it is empty" : "found " + std::string(value.type_name()));
  std::vector<std::string> texts;
  for (const auto& one : value) {
    texts.push_back(text_of(one, name));
    base::refuse_if(base::trim(texts.back()).empty(), "field \"" + name + "\" holds an empty text", "it has no name");
  }
  return texts;
}

double number_of(const Json& value, const std::string& name) {
  base::refuse_if(!value.is_number() || !std::isfinite(value.get<double>()), "field \"" + name + "\" is no number",
                  "found " + std::string(value.type_name()));
  return value.get<double>();
}

Scale scale_of(const Json& object) {
  Scale scale;
  if (object.contains("options")) {
    base::refuse_if(object.contains("low") || object.contains("high"),
                    "both \"options\" and \"low\", \"high\" are given", "a scale has words or numbers");
    scale.options = texts_of(object["options"], "options");
    return scale;
  }
  scale.low = number_of(field(object, "low"), "low");
  scale.high = number_of(field(object, "high"), "high");
  base::refuse_if(scale.low >= scale.high, "\"low\" is not below \"high\"", "the scale has no width");
  return scale;
}

void refuse_unknown(const Json& object, std::vector<std::string> known) {
  known.insert(known.end(), {"kind", "text", "finished"});
  for (const auto& [name, value] : object.items()) {
    base::refuse_if(std::ranges::find(known, name) == known.end(), "unknown field " + base::json_quote(name),
                    "a misspelt field would be ignored silently", base::did_you_mean(name, known));
  }
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

}  // namespace

std::string parse_line(std::string_view line) {
  const auto object = base::parse_json(line, "line");
  base::refuse_if(!object.is_object(), std::string("the line is a JSON ") + object.type_name(),
                  "an object is expected");
  const auto kind = text_of(field(object, "kind"), "kind");
  const std::vector<std::string> kinds = {"rating", "ratings", "keywords", "reasons"};
  base::refuse_if(std::ranges::find(kinds, kind) == kinds.end(), "unknown kind " + base::json_quote(kind),
                  "there are rating, ratings, keywords and reasons", base::did_you_mean(kind, kinds));
  const auto text = text_of(field(object, "text"), "text");
  auto end = End::finished;
  if (object.contains("finished")) {
    base::refuse_if(!object["finished"].is_boolean(), "field \"finished\" is no truth value", "write true or false");
    end = object["finished"].get<bool>() ? End::finished : End::cut_off;
  }
  if (kind == "rating") {
    refuse_unknown(object, {"low", "high", "options"});
    return rating_json(parse_rating(text, scale_of(object), end)).dump();
  }
  if (kind == "ratings") {
    refuse_unknown(object, {"low", "high", "options", "items"});
    return ratings_json(parse_ratings(text, texts_of(field(object, "items"), "items"), scale_of(object), end)).dump();
  }
  if (kind == "keywords") {
    refuse_unknown(object, {"most"});
    const double most = object.contains("most") ? number_of(object["most"], "most") : 10;
    base::refuse_if(most < 1 || most > 10'000 || std::floor(most) != most, "field \"most\" is no number of keywords",
                    "a whole number from 1 to 10,000 is expected");
    const auto keywords = parse_keywords(text, static_cast<std::size_t>(most), end);
    return Json{{"status", name_of(keywords.status)}, {"keywords", keywords.words}}.dump();
  }
  refuse_unknown(object, {"keywords"});
  Json json{{"statuses", Json::array()}, {"reasons", Json::array()}};
  for (const auto& reason : parse_reasons(text, texts_of(field(object, "keywords"), "keywords"), end)) {
    json["statuses"].push_back(name_of(reason.status));
    json["reasons"].push_back(reason.status == Status::answered ? Json(reason.text) : Json());
  }
  return json.dump();
}

}  // namespace stereosweep::answers
