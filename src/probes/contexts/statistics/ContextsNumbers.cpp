#include <algorithm>
#include <ranges>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/Probe.hpp"
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

ContextsReader::ContextsReader(const results::ResultFile& result, std::int64_t wanted_samples) : file_(result) {
  const auto& axes = file_.schema().outer_axes;
  refuse_if(axes.size() != 2, file_, "its contexts are not samples of tests");
  const auto num_in_file = axes[1].labels.size();
  num_samples = wanted_samples == 0 ? num_in_file : static_cast<std::size_t>(wanted_samples);
  base::refuse_if(
      num_samples > num_in_file,
      "statistics.samples: there are no " + std::to_string(num_samples) + " samples in '" + file_.path().string() + "'",
      "each test has " + std::to_string(num_in_file));
  place_samples(axes[1]);
  status_names = require_cube(file_, "status", results::ElementType::uint8, {}).flag_meanings;
  require_cube(file_, "association", results::ElementType::float64, {"target"});
  require_cube(file_, "attribute_association", results::ElementType::float64, {"weat_attribute"});
  require_cube(file_, "effect_size", results::ElementType::float64, {});
  require_cube(file_, "association_variance", results::ElementType::float64, {});
  const auto num_targets = file_.schema().inner_axis("target").labels.size();
  const auto words = file_.axis("word");
  const auto& usable = coordinate_of(words, "usable");
  for (std::size_t i = 0; i < words.labels.size(); ++i) {
    word_contexts[words.labels[i]] = static_cast<std::uint64_t>(base::parse_integer(usable[i]).value_or(0));
  }
  const auto& kinds = coordinate_of(axes[0], "kind");
  if (base::contains(kinds, "wefat") || file_.schema().find_cube("cosine")) {
    require_cube(file_, "association_deviation", results::ElementType::float64, {"target"});
    require_cube(file_, "cosine", results::ElementType::float32, {"target", "attribute"});
  }
  for (std::size_t i = 0; i < axes[0].labels.size(); ++i) {
    ContextsTest test;
    test.label = axes[0].labels[i];
    test.title = coordinate_of(axes[0], "title")[i];
    test.consequence = coordinate_of(axes[0], "consequence")[i];
    refuse_if(kinds[i] != "weat" && kinds[i] != "wefat", file_, "'" + kinds[i] + "' is no kind of test");
    test.kind = kinds[i] == "weat" ? EmbeddingTest::Kind::weat : EmbeddingTest::Kind::wefat;
    for (std::size_t set = 0; set < test.sets.size(); ++set) {
      const std::string role = set_role_names[set];
      test.sets[set] = coordinate_of(axes[0], role)[i];
      test.words[set] = words_of_coordinate(coordinate_of(axes[0], role + "_words")[i]);
    }
    refuse_if(test.num_targets() > num_targets, file_,
              "the test '" + test.label + "' has more words than the axis 'target'");
    const std::string attributes = test.kind == EmbeddingTest::Kind::wefat ? "attribute" : "weat_attribute";
    refuse_if(test.num_attributes() > file_.schema().inner_axis(attributes).labels.size(), file_,
              "the test '" + test.label + "' has more words than the axis '" + attributes + "'");
    for (const auto& word : test.words | std::views::join) {
      refuse_if(!word_contexts.contains(word), file_,
                "the test '" + test.label + "' has the word '" + word + "', which the axis 'word' lacks");
    }
    tests.push_back(std::move(test));
  }
}

void ContextsReader::place_samples(const results::AxisSchema& samples) {
  auto& [templates, rephrasings, replicates] = sample_axes;
  templates = results::ScoreTable::no_axis(2);
  rephrasings = results::ScoreTable::no_axis(3);
  cells.resize(num_samples);
  const auto place = [&](results::AxisSchema& axis, const char* name, std::size_t SampleCell::*place_of_cell) {
    axis = {axis.name, std::string(name) + " that the sentences were made of", {}, {}};
    for (std::size_t sample = 0; sample < num_samples; ++sample) {
      const auto& label = coordinate_of(samples, name)[sample];
      base::add_once(axis.labels, label);
      cells[sample].*place_of_cell = *results::place_of(axis.labels, label);
    }
  };
  if (!samples.coordinates.empty()) {
    place(templates, "template", &SampleCell::template_place);
    place(rephrasings, "rephrasing", &SampleCell::rephrasing);
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> counts;
  std::size_t most = 1;
  for (auto& cell : cells) {
    cell.replicate = counts[{cell.template_place, cell.rephrasing}]++;
    most = std::max(most, cell.replicate + 1);
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
  const auto& schema = file_.schema();
  return {file_.read(test * schema.outer_axes[1].labels.size() + first_sample, count), schema};
}

}  // namespace stereosweep::probes::contexts
