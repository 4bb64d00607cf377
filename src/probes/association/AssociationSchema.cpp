#include "probes/association/AssociationSchema.hpp"

#include <utility>

#include "base/Text.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/TargetPlan.hpp"

namespace stereosweep::probes::association {

namespace {

std::string name_of(sweep::SubjectKind kind) {
  switch (kind) {
    case sweep::SubjectKind::prior_word:
      return "prior_word";
    case sweep::SubjectKind::prior_mask:
      return "prior_mask";
    case sweep::SubjectKind::group:
      return "group";
    case sweep::SubjectKind::intersection:
      return "intersection";
  }
  return "";
}

/// An axis whose labels and coordinates are read off `items`.
template <class Item>
class AxisBuilder {
 public:
  AxisBuilder(std::string name, std::string long_name, const std::vector<Item>& items) : items_(items) {
    axis_.name = std::move(name);
    axis_.long_name = std::move(long_name);
  }
  template <class Read>
  AxisBuilder& labels(Read read) {
    axis_.labels = collect(read);
    return *this;
  }
  template <class Read>
  AxisBuilder& coordinate(std::string name, std::string long_name, Read read) {
    axis_.coordinates.push_back({std::move(name), std::move(long_name), collect(read)});
    return *this;
  }
  results::AxisSchema take() { return std::move(axis_); }

 private:
  template <class Read>
  std::vector<std::string> collect(Read read) const {
    std::vector<std::string> values;
    values.reserve(items_.size());
    for (const auto& item : items_) {
      values.push_back(read(item));
    }
    return values;
  }
  const std::vector<Item>& items_;
  results::AxisSchema axis_;
};

results::AxisSchema group_axis(const std::vector<sweep::Subject>& subjects) {
  using sweep::Subject;
  return AxisBuilder<Subject>("group", "what stands in the place of the group", subjects)
      .labels([](const Subject& subject) { return subject.label; })
      .coordinate("group_kind", "prior_word, prior_mask, group or intersection",
                  [](const Subject& subject) { return name_of(subject.kind); })
      .coordinate("group_domain", "domains of the components, in order, joined by +",
                  [](const Subject& subject) { return base::join(subject.domains, "+"); })
      .coordinate("group_components", "labels of the groups it is made of, in order, joined by +",
                  [](const Subject& subject) { return base::join(subject.components, "+"); })
      .take();
}

results::AxisSchema template_axis(const std::vector<sweep::Template>& templates) {
  using sweep::Template;
  return AxisBuilder<Template>("template", "sentence with a group and a trait", templates)
      .labels([](const Template& item) { return item.label; })
      .coordinate("template_kind", "kind of sentence", [](const Template& item) { return item.kind; })
      .coordinate("template_text", "text with its placeholders", [](const Template& item) { return item.text; })
      .take();
}

results::AxisSchema rephrasing_axis(const std::vector<sweep::Rephrasing>& rephrasings) {
  using sweep::Rephrasing;
  return AxisBuilder<Rephrasing>("rephrasing", "another way to say the prompt", rephrasings)
      .labels([](const Rephrasing& item) { return item.label; })
      .coordinate("rephrasing_wrapper", "text around the prompt; empty: full alternatives",
                  [](const Rephrasing& item) { return item.wrapper; })
      .take();
}

results::AxisSchema word_axis(const std::vector<WordEntry>& words) {
  return AxisBuilder<WordEntry>("word", "word that stands for a pole of a trait pair; may occur in several poles",
                                words)
      .labels([](const WordEntry& entry) { return entry.word; })
      .coordinate("pole", "pole the word stands for", [](const WordEntry& entry) { return entry.pole; })
      .coordinate("pair", "trait pair of the pole", [](const WordEntry& entry) { return entry.pair; })
      .coordinate("dimension", "dimension of the trait pair", [](const WordEntry& entry) { return entry.dimension; })
      .coordinate("side", "side of the pole in its pair: left = 0, right = 100 on rating scales",
                  [](const WordEntry& entry) { return entry.side; })
      .take();
}

results::CubeSchema subword_cube(std::string name, results::ElementType type, std::string units, std::string long_name,
                                 std::string description) {
  return {.name = std::move(name),
          .type = type,
          .inner_axes = {"word", "subword"},
          .units = std::move(units),
          .long_name = std::move(long_name),
          .description = std::move(description),
          .flag_meanings = {}};
}

std::vector<std::pair<Number, results::CubeSchema>> number_cubes(const Measures& measures) {
  const std::string slot = "subwords before it stand in their places, later ones are masked";
  std::vector<std::pair<Number, results::CubeSchema>> cubes;
  cubes.emplace_back(Number::logprob, subword_cube("logprob", results::ElementType::float64, "nat",
                                                   "log-probability of the subword", slot));
  if (measures.ilps_star) {
    cubes.emplace_back(Number::log_mass_initial,
                       subword_cube("log_mass_initial", results::ElementType::float64, "nat",
                                    "ln of the probability of all word-initial tokens at the subword's place", slot));
    cubes.emplace_back(Number::log_mass_continuation,
                       subword_cube("log_mass_continuation", results::ElementType::float64, "nat",
                                    "ln of the probability of all continuation tokens at the subword's place", slot));
  }
  if (measures.set) {
    const auto add = [&](Number number, const char* name, results::ElementType type, const char* units,
                         const char* what, const char* bias) {
      cubes.emplace_back(number, subword_cube(name, type, units, what, std::string(bias) + "; " + slot));
    };
    const char* augmented = "the decoder's bias is one more column and may move (published code)";
    const char* fixed = "the decoder's bias is left out";
    const char* distance = "Frobenius norm of the least change of the decoder that makes the subword win by 1";
    const char* threshold = "logit to which the competitors are cut";
    const char* active = "number of competitors that move; -1: not scored";
    add(Number::set_distance_bias, "set_distance_bias", results::ElementType::float64, "1", distance, augmented);
    add(Number::set_distance_plain, "set_distance_plain", results::ElementType::float64, "1", distance, fixed);
    add(Number::set_threshold_bias, "set_threshold_bias", results::ElementType::float64, "1", threshold, augmented);
    add(Number::set_threshold_plain, "set_threshold_plain", results::ElementType::float64, "1", threshold, fixed);
    add(Number::set_active_bias, "set_active_bias", results::ElementType::int32, "1", active, augmented);
    add(Number::set_active_plain, "set_active_plain", results::ElementType::int32, "1", active, fixed);
  }
  return cubes;
}

}  // namespace

std::vector<WordEntry> list_words(const std::vector<sweep::TraitPair>& traits) {
  std::vector<WordEntry> entries;
  for (const auto& pair : traits) {
    for (const auto& word : pair.left.words) {
      entries.push_back({word, pair.left.name, pair.label, pair.dimension, "left"});
    }
    for (const auto& word : pair.right.words) {
      entries.push_back({word, pair.right.name, pair.label, pair.dimension, "right"});
    }
  }
  return entries;
}

AssociationColumns add_association_cubes(results::RawSchema& schema, const Measures& measures) {
  AssociationColumns columns;
  const auto add = [&](results::CubeSchema cube) {
    schema.cubes.push_back(std::move(cube));
    return static_cast<int>(schema.cubes.size()) - 1;
  };
  for (auto& [number, cube] : number_cubes(measures)) {
    columns.number[static_cast<int>(number)] = add(std::move(cube));
  }
  columns.num_subwords = add({"num_subwords",
                              results::ElementType::int32,
                              {"word"},
                              "1",
                              "number of subwords of the word in this text",
                              "0: the tokenizer was not asked or makes nothing of the word",
                              {}});
  columns.status = add({"status",
                        results::ElementType::uint8,
                        {"word"},
                        "",
                        "why the numbers are what they are",
                        "up to set_not_certified log-probabilities are good; above, numbers are missing",
                        cell_status_names()});
  columns.prompt = add({"prompt",
                        results::ElementType::text,
                        {},
                        "",
                        "text that was scored",
                        "{trait} marks the place of the word",
                        {}});
  columns.problem = add(
      {"problem", results::ElementType::text, {}, "", "first failure of the engine in this text", "empty: none", {}});
  return columns;
}

results::RawSchema association_axes(const sweep::Axes& axes, const std::vector<sweep::Subject>& subjects,
                                    const std::vector<WordEntry>& words, std::uint32_t max_subwords) {
  results::RawSchema schema;
  schema.outer_axes = {group_axis(subjects), template_axis(axes.templates), rephrasing_axis(axes.rephrasings)};
  results::AxisSchema subword{
      .name = "subword", .long_name = "subword of the word, from left to right", .labels = {}, .coordinates = {}};
  for (std::uint32_t i = 0; i < max_subwords; ++i) {
    subword.labels.push_back(std::to_string(i));
  }
  schema.inner_axes = {word_axis(words), std::move(subword)};
  for (const auto& subject : subjects) {
    const bool is_prior =
        subject.kind == sweep::SubjectKind::prior_word || subject.kind == sweep::SubjectKind::prior_mask;
    schema.num_priors += is_prior ? 1 : 0;
  }
  return schema;
}

}  // namespace stereosweep::probes::association
