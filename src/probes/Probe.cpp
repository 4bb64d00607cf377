#include "probes/Probe.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Scores.hpp"

namespace stereosweep::probes {

results::AxisSchema numbered_axis(std::string name, std::string long_name, std::uint64_t length) {
  results::AxisSchema axis{std::move(name), std::move(long_name), {}, {}};
  for (std::uint64_t i = 0; i < length; ++i) {
    axis.labels.push_back(std::to_string(i));
  }
  return axis;
}

results::AxisSchema measure_axis(const std::string& long_name, const std::vector<MeasureText>& measures) {
  std::vector<AxisText<MeasureText>> texts = {{"units", "unit of the score", &MeasureText::units},
                                              {"description", "definition", &MeasureText::description},
                                              {"lowest", "least score possible", &MeasureText::lowest},
                                              {"highest", "greatest score possible", &MeasureText::highest}};
  if (std::ranges::any_of(measures, [](const auto& measure) { return measure.answers > 0; })) {
    texts.push_back({findings::answers_name, findings::answers_long_name,
                     [](const auto& measure) { return std::to_string(measure.answers); }});
  }
  return axis_of("measure", long_name, measures, &MeasureText::name, texts);
}

results::AxisSchema rated_item_axis(const results::AxisSchema& rated, const std::vector<std::string>& kept) {
  results::AxisSchema axis{"item", "what is rated", rated.labels, {}};
  const auto keep = [&](const std::string& name) {
    coordinate_of(rated, name);  // which must be there
    axis.coordinates.push_back(*std::ranges::find(rated.coordinates, name, &results::AxisSchema::Coordinate::name));
  };
  const auto add = [&](const char* name, const char* long_name, auto text_of) {
    std::vector<std::string> values;
    std::ranges::transform(
        rated.labels, coordinate_of(rated, "polarity"), std::back_inserter(values),
        [&](const auto& label, const auto& polarity) { return text_of(label, polarity == "negative"); });
    axis.coordinates.push_back({name, long_name, std::move(values)});
  };
  keep("dimension");
  add("left", "what a low score is near to", [](auto& label, bool turned) { return (turned ? "" : "not ") + label; });
  add("right", "what a high score is near to", [](auto& label, bool turned) { return (turned ? "not " : "") + label; });
  std::ranges::for_each(kept, keep);
  add("direction", "turned: least + greatest value of the scale - rating",
      [](auto& /*label*/, bool turned) { return turned ? "turned" : "as_rated"; });
  return axis;
}

void add_further_parts(results::AxisSchema& axis, const std::vector<std::vector<std::string>>& parts) {
  for (std::size_t place = 2; place < sweep::most_parts; ++place) {
    const auto has_part = [&](const auto& labels) { return labels.size() > place; };
    if (std::ranges::any_of(parts, has_part)) {
      axis.coordinates.push_back(
          {sweep::part_names[place], "label of the " + sweep::part_names[place] + " part",
           base::mapped(parts, [&](const auto& labels) { return has_part(labels) ? labels[place] : ""; })});
    }
  }
}

results::AxisSchema group_axis(const std::string& long_name, const std::vector<sweep::Subject>& subjects) {
  using sweep::Subject;
  const auto part = [](std::size_t index) {
    return [index](const Subject& subject) {
      return index < subject.components.size() ? subject.components[index] : std::string();
    };
  };
  auto axis = axis_of("group", long_name, subjects, &Subject::label,
                      {{"kind", "group or intersection",
                        [](const Subject& subject) {
                          return subject.kind == sweep::SubjectKind::intersection ? "intersection" : "group";
                        }},
                       {"domain", "domains of the parts, in order",
                        [](const Subject& subject) { return base::join(subject.domains, " x "); }},
                       {"first", "label of the first part", part(0)},
                       {"second", "label of the second part", part(1)},
                       {"plural", "words that stand in a question", &Subject::plural}});
  add_further_parts(axis, base::mapped(subjects, &Subject::components));
  return axis;
}

results::CubeSchema cube(std::string name, results::ElementType type, std::vector<std::string> inner_axes,
                         std::string units, std::string long_name, std::string description,
                         std::vector<std::string> flag_meanings) {
  return {std::move(name),         type,
          std::move(inner_axes),   std::move(units),
          std::move(long_name),    std::move(description),
          std::move(flag_meanings)};
}

sweep::Product product_of(const results::RawSchema& schema) {
  return sweep::Product(
      base::mapped(schema.outer_axes, [](const auto& axis) -> std::uint64_t { return axis.labels.size(); }));
}

const std::vector<std::string>& meanings_of(const results::RawSchema& schema, const std::string& name) {
  const auto place = schema.find_cube(name);
  base::refuse_if(!place, "there is no cube '" + name + "'", "this is no result of the probe");
  const auto& meanings = schema.cubes[*place].flag_meanings;
  base::refuse_if(meanings.empty(), "the flags of the cube '" + name + "' have no meanings",
                  "this is no result of the probe");
  return meanings;
}

void require_axis(std::uint64_t length, const char* key, const std::string& what, base::Problems& problems) {
  problems.add_if(length == 0, {.file = "", .line = 0, .key = key}, "no " + what, "the product would be empty");
}

std::string place_of(const Probe& probe, const sweep::Block& block, const results::CubeSchema& cube,
                     std::size_t index) {
  const auto& schema = probe.schema();
  const auto per_context = schema.values_per_context(cube);
  const auto at = probe.blocks().product().coordinates(probe.blocks().context(block, index / per_context));
  std::vector<std::string> words;
  for (std::size_t axis = 0; axis < schema.outer_axes.size(); ++axis) {
    words.push_back(schema.outer_axes[axis].name + " " + schema.outer_axes[axis].labels[at[axis]]);
  }
  const auto num_outer = std::ssize(words);
  auto inner = index % per_context;
  for (auto name = cube.inner_axes.rbegin(); name != cube.inner_axes.rend(); ++name) {
    const auto& axis = schema.inner_axis(*name);
    words.insert(words.begin() + num_outer, axis.name + " " + axis.labels[inner % axis.labels.size()]);
    inner /= axis.labels.size();
  }
  return base::join(words, ", ");
}

base::Digest block_key(const Probe& probe, const sweep::Block& block, const base::Digest& fingerprint) {
  base::Sha256 hash;
  hash.field("stereosweep block 1");
  hash.field({reinterpret_cast<const char*>(fingerprint.data()), fingerprint.size()});
  hash.number(block.num_contexts);
  probe.hash_content(block, hash);
  return hash.finish();
}

}  // namespace stereosweep::probes
