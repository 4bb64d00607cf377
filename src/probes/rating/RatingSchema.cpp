#include "probes/rating/RatingSchema.hpp"

#include "base/Text.hpp"
#include "probes/rating/AnswerParser.hpp"

namespace stereosweep::probes::rating {
namespace {

template <class Item, class Read>
std::vector<std::string> collect(const std::vector<Item>& items, Read read) {
  std::vector<std::string> values;
  for (const auto& item : items) {
    values.push_back(read(item));
  }
  return values;
}

results::AxisSchema axis(std::string name, std::string long_name, std::vector<std::string> labels) {
  return {std::move(name), std::move(long_name), std::move(labels), {}};
}

std::vector<results::AxisSchema> outer_axes(const Rating& rating) {
  results::AxisSchema identity =
      axis("identity", "who is rated", collect(rating.identities, [](const auto& i) { return i.label; }));
  identity.coordinates = {
      {"marker", "demographic marker", collect(rating.identities, [](const auto& i) { return i.marker; })},
      {"people", "word for people after the marker",
       collect(rating.identities, [](const auto& i) { return i.people; })}};
  results::AxisSchema trait =
      axis("trait", "what is rated", collect(rating.traits, [](const auto& t) { return t.label; }));
  trait.coordinates = {
      {"dimension", "dimension of the trait", collect(rating.traits, [](const auto& t) { return t.dimension; })},
      {"polarity", "positive: a high rating is high on the dimension", collect(rating.traits, [](const auto& t) {
         return std::string(t.polarity == RatedTrait::Polarity::positive ? "positive" : "negative");
       })}};
  results::AxisSchema question =
      axis("question", "wording of the question", collect(rating.questions, [](const auto& q) { return q.label; }));
  question.coordinates = {
      {"style", "style of the wording", collect(rating.questions, [](const auto& q) { return q.style; })},
      {"text", "the wording", collect(rating.questions, [](const auto& q) { return q.text; })}};
  return {std::move(identity), std::move(trait), std::move(question)};
}

std::vector<results::AxisSchema> inner_axes(const Rating& rating) {
  results::AxisSchema option = axis("option", "answer of the scale, in the order of the job",
                                    collect(rating.scale, [](const auto& o) { return o.text; }));
  option.coordinates = {{"value", "rating that the answer stands for",
                         collect(rating.scale, [](const auto& o) { return base::format_double(o.value); })}};
  std::vector<results::AxisSchema> axes = {
      std::move(option), axis("order", "order in which the prompt lists the options", {"as_listed", "reversed"}),
      axis("form", "what is scored as the continuation", {"text", "letter"})};
  if (rating.sampling.runs > 0) {
    axes.push_back(axis("run", "sampled answer to the same prompt", {}));
    for (std::int64_t run = 0; run < rating.sampling.runs; ++run) {
      axes.back().labels.push_back(std::to_string(run));
    }
  }
  return axes;
}

results::CubeSchema cube(std::string name, results::ElementType type, std::vector<std::string> axes, std::string units,
                         std::string long_name, std::string description) {
  return {std::move(name), type, std::move(axes), std::move(units), std::move(long_name), std::move(description), {}};
}

}  // namespace

results::RawSchema rating_schema(const Rating& rating) {
  results::RawSchema schema;
  schema.outer_axes = outer_axes(rating);
  schema.inner_axes = inner_axes(rating);
  schema.cubes = {
      cube("option_logprob", results::ElementType::float64, {"order", "form", "option"}, "nat",
           "log-probability of the option after the prompt", "sum over its tokens"),
      cube("option_num_tokens", results::ElementType::int32, {"order", "form", "option"}, "1",
           "tokens of the option after the prompt", "0: not scored, see option_status"),
      cube("option_status", results::ElementType::uint8, {"order"}, "", "why the log-probabilities are what they are",
           ""),
      cube("prompt", results::ElementType::text, {"order"}, "", "text that the model was given",
           "with the chat format's tokens"),
      cube("problem", results::ElementType::text, {}, "", "first failure of the engine in this context", "empty: none"),
  };
  schema.cubes[static_cast<std::size_t>(RatingColumn::option_status)].flag_meanings = {"ok", "too_long", "not_finite",
                                                                                       "engine_error"};
  if (rating.sampling.runs > 0) {
    schema.cubes.push_back(cube("answer_text", results::ElementType::text, {"order", "run"}, "", "sampled answer", ""));
    schema.cubes.push_back(cube("answer_rating", results::ElementType::float64, {"order", "run"}, "1",
                                "value of the option that the answer names", "NaN: none, see answer_status"));
    schema.cubes.push_back(cube("answer_status", results::ElementType::uint8, {"order", "run"}, "",
                                "whether the answer names one option", ""));
    schema.cubes.back().flag_meanings = answer_status_names();
  }
  return schema;
}

}  // namespace stereosweep::probes::rating
