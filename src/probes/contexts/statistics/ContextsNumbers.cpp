#include <algorithm>

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
  const auto& kinds = coordinate_of(axes[0], "kind");
  const bool has_wefat = base::contains(kinds, "wefat") || file_.schema().find_cube("cosine");
  for (const auto& wanted : sample_cubes(has_wefat ? EmbeddingTest::Kind::wefat : EmbeddingTest::Kind::weat)) {
    const auto place = file_.schema().find_cube(wanted.name);
    const auto* cube = place ? &file_.schema().cubes[*place] : nullptr;
    refuse_if(cube == nullptr || cube->type != wanted.type || cube->inner_axes != wanted.inner_axes, file_,
              "it has no cube '" + wanted.name + "' of this version");
  }
  status_names = meanings_of(file_.schema(), "status");
  const auto num_targets = file_.schema().inner_axis("target").labels.size();
  const auto words = file_.axis("word");
  const auto& usable = coordinate_of(words, "usable");
  for (std::size_t i = 0; i < words.labels.size(); ++i) {
    word_contexts[words.labels[i]] = static_cast<std::uint64_t>(base::parse_integer(usable[i]).value_or(0));
  }
  consequences = coordinate_of(axes[0], "consequence");
  for (std::size_t i = 0; i < axes[0].labels.size(); ++i) {
    EmbeddingTest test;
    test.label = axes[0].labels[i];
    test.title = coordinate_of(axes[0], "title")[i];
    refuse_if(kinds[i] != "weat" && kinds[i] != "wefat", file_, "'" + kinds[i] + "' is no kind of test");
    test.kind = kinds[i] == "weat" ? EmbeddingTest::Kind::weat : EmbeddingTest::Kind::wefat;
    const std::array sets = {&test.x, &test.y, &test.a, &test.b};
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const std::string role = set_role_names[set];
      *sets[set] = {coordinate_of(axes[0], role)[i], words_of_coordinate(coordinate_of(axes[0], role + "_words")[i])};
    }
    refuse_if(test.num_targets() > num_targets, file_,
              "the test '" + test.label + "' has more words than the axis 'target'");
    const std::string attributes = test.is_weat() ? "weat_attribute" : "attribute";
    refuse_if(test.num_attributes() > file_.schema().inner_axis(attributes).labels.size(), file_,
              "the test '" + test.label + "' has more words than the axis '" + attributes + "'");
    for (const auto& word : list_words({test})) {
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
