#include <algorithm>
#include <ranges>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/Probe.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"

namespace stereosweep::probes::contexts {
namespace {

void refuse_if(bool is_wrong, const results::ResultFile& file, const std::string& why) {
  base::refuse_if(is_wrong, "cannot compute statistics of '" + file.path().string() + "'", why);
}

const results::CubeSchema& require_cube(const results::ResultFile& file, const std::string& name,
                                        results::ElementType type, const std::vector<std::string>& inner_axes) {
  const auto place = file.schema().find_cube(name);
  const auto* cube = place ? &file.schema().cubes[*place] : nullptr;
  refuse_if(cube == nullptr || cube->type != type || cube->inner_axes != inner_axes, file,
            "it has no cube '" + name + "' of this version");
  return *cube;
}

}  // namespace

ContextsSamples::ContextsSamples(const results::RawSchema& schema, results::RawBlock block)
    : block_(std::move(block)),
      num_targets_(schema.inner_axis("target").labels.size()),
      num_weat_attributes_(schema.inner_axis("weat_attribute").labels.size()) {
  const auto numbers = [&](const char* name) { return &column_named<double>(block_, schema, name); };
  association_ = numbers("association");
  attribute_association_ = numbers("attribute_association");
  effect_size_ = numbers("effect_size");
  association_variance_ = numbers("association_variance");
  status_ = &column_named<std::uint8_t>(block_, schema, "status");
  if (schema.find_cube("cosine")) {
    num_attributes_ = schema.inner_axis("attribute").labels.size();
    deviation_ = numbers("association_deviation");
    cosine_ = &column_named<float>(block_, schema, "cosine");
  }
}

ContextsReader::ContextsReader(const results::ResultFile& file, std::int64_t num_samples) : file_(file) {
  const auto& axes = file.schema().outer_axes;
  num_in_file_ = axes[1].labels.size();
  num_samples_ = num_samples == 0 ? num_in_file_ : static_cast<std::size_t>(num_samples);
  base::refuse_if(
      num_samples_ > num_in_file_,
      "statistics.samples: there are no " + std::to_string(num_samples_) + " samples in '" + file.path().string() + "'",
      "each test has " + std::to_string(num_in_file_));
  place_samples(axes[1]);
  status_names_ = require_cube(file, "status", results::ElementType::uint8, {}).flag_meanings;
  require_cube(file, "association", results::ElementType::float64, {"target"});
  require_cube(file, "attribute_association", results::ElementType::float64, {"weat_attribute"});
  require_cube(file, "effect_size", results::ElementType::float64, {});
  require_cube(file, "association_variance", results::ElementType::float64, {});
  const auto num_targets = file.schema().inner_axis("target").labels.size();
  const auto words = file.axis("word");
  const auto& usable = coordinate_of(words, "usable");
  for (std::size_t i = 0; i < words.labels.size(); ++i) {
    word_contexts_[words.labels[i]] = static_cast<std::uint64_t>(base::parse_integer(usable[i]).value_or(0));
  }
  const auto& kinds = coordinate_of(axes[0], "kind");
  if (base::contains(kinds, "wefat") || file.schema().find_cube("cosine")) {
    require_cube(file, "association_deviation", results::ElementType::float64, {"target"});
    require_cube(file, "cosine", results::ElementType::float32, {"target", "attribute"});
  }
  for (std::size_t i = 0; i < axes[0].labels.size(); ++i) {
    ContextsTest test;
    test.label = axes[0].labels[i];
    test.title = coordinate_of(axes[0], "title")[i];
    test.consequence = coordinate_of(axes[0], "consequence")[i];
    refuse_if(kinds[i] != "weat" && kinds[i] != "wefat", file, "'" + kinds[i] + "' is no kind of test");
    test.kind = kinds[i] == "weat" ? EmbeddingTest::Kind::weat : EmbeddingTest::Kind::wefat;
    for (std::size_t set = 0; set < test.sets.size(); ++set) {
      const std::string role = set_role_names[set];
      test.sets[set] = coordinate_of(axes[0], role)[i];
      test.words[set] = words_of_coordinate(coordinate_of(axes[0], role + "_words")[i]);
    }
    refuse_if(test.num_targets() > num_targets, file,
              "the test '" + test.label + "' has more words than the axis 'target'");
    const std::string attributes = test.kind == EmbeddingTest::Kind::wefat ? "attribute" : "weat_attribute";
    refuse_if(test.num_attributes() > file.schema().inner_axis(attributes).labels.size(), file,
              "the test '" + test.label + "' has more words than the axis '" + attributes + "'");
    for (const auto& word : test.words | std::views::join) {
      refuse_if(!word_contexts_.contains(word), file,
                "the test '" + test.label + "' has the word '" + word + "', which the axis 'word' lacks");
    }
    tests_.push_back(std::move(test));
  }
}

void ContextsReader::place_samples(const results::AxisSchema& samples) {
  const bool is_made = !samples.coordinates.empty();
  auto& [templates, rephrasings, replicates] = sample_axes_;
  templates = results::ScoreTable::no_axis(2);
  rephrasings = results::ScoreTable::no_axis(3);
  const auto place_in = [&](results::AxisSchema& axis, const char* name, std::size_t sample) -> std::size_t {
    if (!is_made) {
      return 0;
    }
    const auto& label = coordinate_of(samples, name)[sample];
    const auto found = std::ranges::find(axis.labels, label);
    const auto place = static_cast<std::size_t>(found - axis.labels.begin());
    if (found == axis.labels.end()) {
      axis.labels.push_back(label);
    }
    return place;
  };
  if (is_made) {
    templates = {templates.name, "template that the sentences were made of", {}, {}};
    rephrasings = {rephrasings.name, "rephrasing that the sentences were made of", {}, {}};
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> counts;
  std::size_t most = 1;
  for (std::size_t sample = 0; sample < num_samples_; ++sample) {
    SampleCell cell{place_in(templates, "template", sample), place_in(rephrasings, "rephrasing", sample), 0};
    cell.replicate = counts[{cell.template_place, cell.rephrasing}]++;
    most = std::max(most, cell.replicate + 1);
    cells_.push_back(cell);
  }
  replicates = numbered_axis(results::score_axis_names[4], "sample: a draw of one context per word", most);
}

std::size_t ContextsReader::numbers_per_sample() const {
  std::size_t numbers = 0;
  for (const auto& cube : file_.schema().cubes) {
    numbers += file_.schema().values_per_context(cube);
  }
  return numbers;
}

ContextsSamples ContextsReader::read(std::size_t test, std::size_t first_sample, std::size_t count) const {
  return {file_.schema(), file_.read(test * num_in_file_ + first_sample, count)};
}

}  // namespace stereosweep::probes::contexts
