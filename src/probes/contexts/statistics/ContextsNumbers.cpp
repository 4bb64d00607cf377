#include "probes/contexts/statistics/ContextsNumbers.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probes/contexts/effects/ContextsSchema.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"

namespace stereosweep::probes::contexts {
namespace {

[[noreturn]] void refuse(const results::ResultFile& file, const std::string& why) {
  throw base::InputError(base::describe("cannot compute statistics of '" + file.path().string() + "'", why));
}

const std::vector<std::string>& coordinate(const results::ResultFile& file, const results::AxisSchema& axis,
                                           const std::string& name) {
  const auto& coordinates = axis.coordinates;
  const auto found =
      std::find_if(coordinates.begin(), coordinates.end(), [&](const auto& item) { return item.name == name; });
  if (found == coordinates.end()) {
    refuse(file, "its axis '" + axis.name + "' has no coordinate '" + name + "'");
  }
  return found->values;
}

}  // namespace

ContextsReader::ContextsReader(const results::ResultFile& file) : file_(file) {
  const auto& axes = file.schema().outer_axes;
  if (file.text("schema") != "stereosweep/contexts" || axes.size() != 2 || axes[0].name != "test" ||
      axes[1].name != "sample") {
    refuse(file, "it holds no effects of the probe 'contexts'");
  }
  num_samples_ = axes[1].labels.size();
  num_slots_ = file.schema().inner_axis("target").labels.size();
  status_names_ = file.schema().cubes.at(column("status")).flag_meanings;
  column("association");
  const auto words = file.axis("word");
  const auto& usable = coordinate(file, words, "usable");
  for (std::size_t i = 0; i < words.labels.size(); ++i) {
    word_contexts_[words.labels[i]] = static_cast<std::uint64_t>(base::parse_integer(usable[i]).value_or(0));
  }
  const auto& kinds = coordinate(file, axes[0], "kind");
  for (std::size_t i = 0; i < axes[0].labels.size(); ++i) {
    ContextsTest test;
    test.label = axes[0].labels[i];
    test.title = coordinate(file, axes[0], "title")[i];
    test.consequence = coordinate(file, axes[0], "consequence")[i];
    if (kinds[i] != "weat" && kinds[i] != "wefat") {
      refuse(file, "'" + kinds[i] + "' is no kind of test");
    }
    test.kind = kinds[i] == "weat" ? EmbeddingTest::Kind::weat : EmbeddingTest::Kind::wefat;
    for (std::size_t set = 0; set < test.sets.size(); ++set) {
      const std::string role = set_role_names[set];
      test.sets[set] = coordinate(file, axes[0], role)[i];
      test.words[set] = words_of_coordinate(coordinate(file, axes[0], role + "_words")[i]);
    }
    if (test.num_targets() > num_slots_) {
      refuse(file, "the test '" + test.label + "' has more words than the axis 'target'");
    }
    tests_.push_back(std::move(test));
  }
}

std::size_t ContextsReader::column(const std::string& name) const {
  const auto& cubes = file_.schema().cubes;
  const auto found = std::find_if(cubes.begin(), cubes.end(), [&](const auto& cube) { return cube.name == name; });
  if (found == cubes.end()) {
    refuse(file_, "it has no cube '" + name + "': another version of the program wrote it");
  }
  return static_cast<std::size_t>(found - cubes.begin());
}

std::vector<double> ContextsReader::targets(const results::RawBlock& block, const std::string& cube,
                                            std::size_t test) const {
  const auto& slots = std::get<std::vector<double>>(block.columns[column(cube)]);
  const auto wanted = static_cast<std::ptrdiff_t>(tests_[test].num_targets());
  std::vector<double> values;
  for (std::size_t sample = 0; sample < slots.size() / num_slots_; ++sample) {
    const auto first = slots.begin() + static_cast<std::ptrdiff_t>(sample * num_slots_);
    values.insert(values.end(), first, first + wanted);
  }
  return values;
}

std::vector<float> ContextsReader::cosines(const results::RawBlock& block, std::size_t test) const {
  const auto& slots = std::get<std::vector<float>>(block.columns[column("cosine")]);
  const auto attribute_slots = file_.schema().inner_axis("attribute").labels.size();
  std::vector<float> values;
  for (std::size_t sample = 0; sample < slots.size() / (num_slots_ * attribute_slots); ++sample) {
    for (std::size_t target = 0; target < tests_[test].num_targets(); ++target) {
      const auto first = slots.begin() + static_cast<std::ptrdiff_t>((sample * num_slots_ + target) * attribute_slots);
      values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(tests_[test].num_attributes()));
    }
  }
  return values;
}

std::size_t ContextsReader::numbers_per_sample() const {
  std::size_t numbers = 0;
  for (const auto& cube : file_.schema().cubes) {
    numbers += file_.schema().values_per_context(cube);
  }
  return numbers;
}

ContextsSamples ContextsReader::read(std::size_t test, std::size_t first_sample, std::size_t count) const {
  const auto block = file_.read(test * num_samples_ + first_sample, count);
  ContextsSamples samples;
  samples.association = targets(block, "association", test);
  samples.status = std::get<std::vector<std::uint8_t>>(block.columns[column("status")]);
  if (tests_[test].kind == EmbeddingTest::Kind::weat) {
    samples.effect_size = std::get<std::vector<double>>(block.columns[column("effect_size")]);
    samples.association_variance = std::get<std::vector<double>>(block.columns[column("association_variance")]);
  } else {
    samples.deviation = targets(block, "association_deviation", test);
    samples.cosine = cosines(block, test);
  }
  return samples;
}

}  // namespace stereosweep::probes::contexts
