// A contexts result of random numbers, for tests.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/Random.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "results/Export.hpp"
#include "results/Reader.hpp"
#include "stats/Summary.hpp"
#include "support/EffectSize.hpp"
#include "support/PhiloxUnit.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::probes::contexts {

using Kind = EmbeddingTest::Kind;
inline std::vector<std::string> numbered(const std::string& stem, std::size_t count) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) {
    words.push_back(stem + std::to_string(i));
  }
  return words;
}

inline EmbeddingTest weat(const std::string& label, std::size_t n, std::size_t m) {
  return {label,
          "a test",
          Kind::weat,
          {"x", numbered(label + "x", n)},
          {"y", numbered(label + "y", m)},
          {"a", numbered("a", 3)},
          {"b", numbered("b", 4)}};
}

inline EmbeddingTest wefat(const std::string& label, std::size_t n) {
  return {label, "", Kind::wefat, {"traits", numbered("t", n)}, {}, {"a", numbered("a", 3)}, {"b", numbered("b", 4)}};
}

/// A result whose associations are random numbers with a shift per set.
class Synthetic {
 public:
  Synthetic(std::vector<EmbeddingTest> tests, std::size_t num_samples)
      : num_samples_(num_samples), folder_(std::filesystem::temp_directory_path() / "stereosweep_contexts") {
    settings_.tests = std::move(tests);
    std::filesystem::create_directories(folder_);
    const auto names = list_words(settings_.tests);
    for (const auto& name : names) {
      words_.push_back({.word = name, .found = 5, .stored = 5, .usable = 5, .digest = {}});
    }
    in_use_ = tests_in_use(settings_, 1, words_);
    schema_ = effects_schema(in_use_, words_, num_samples);
    num_slots_ = schema_.inner_axis("target").labels.size();
    has_wefat_ = schema_.find_cube("association_deviation").has_value();
  }
  ~Synthetic() { std::filesystem::remove_all(folder_); }
  Synthetic(const Synthetic&) = delete;
  Synthetic& operator=(const Synthetic&) = delete;

  double association(std::size_t test, std::size_t sample, std::size_t target) const {
    const auto num_x = settings_.tests[test].x.words.size();
    return testing::philox_unit({.seed = 4,
                                 .test = static_cast<std::uint32_t>(test),
                                 .sample = static_cast<std::uint32_t>(sample),
                                 .word = static_cast<std::uint32_t>(target)}) -
           0.5 + (target < num_x ? shift_ : 0);
  }
  /// Associations of the attribute words with X against Y that give A and B the difference that X and Y have.
  std::vector<double> attribute_associations(std::size_t test, std::size_t sample) const {
    const auto& sets = settings_.tests[test];
    const auto mean_difference = [](const std::vector<double>& values, std::size_t num_first) {
      const auto border = values.begin() + static_cast<std::ptrdiff_t>(num_first);
      return std::accumulate(values.begin(), border, 0.0) / static_cast<double>(num_first) -
             std::accumulate(border, values.end(), 0.0) / static_cast<double>(values.end() - border);
    };
    std::vector<double> of_targets;
    for (std::size_t target = 0; target < sets.x.words.size() + sets.y.words.size(); ++target) {
      of_targets.push_back(sample == broken_ ? 0.25 : association(test, sample, target));
    }
    const auto num_a = sets.a.words.size();
    std::vector<double> values;
    for (std::size_t i = 0; i < num_a + sets.b.words.size(); ++i) {
      values.push_back(testing::philox_unit({.seed = 6,
                                             .test = static_cast<std::uint32_t>(test),
                                             .sample = static_cast<std::uint32_t>(sample),
                                             .word = static_cast<std::uint32_t>(i)}));
    }
    const double missing = mean_difference(of_targets, sets.x.words.size()) - mean_difference(values, num_a);
    for (std::size_t i = 0; i < num_a; ++i) {
      values[i] += missing;
    }
    return values;
  }
  double deviation(std::size_t test, std::size_t sample) const {
    return 0.5 + 0.1 * static_cast<double>((test + sample) % 3);
  }
  /// Cosines with the words of A and B that have this association and deviation.
  std::vector<float> cosines(std::size_t test, std::size_t sample, std::size_t target) const {
    const auto num_a = settings_.tests[test].a.words.size();
    const auto num_b = settings_.tests[test].b.words.size();
    std::vector<double> noise;
    std::array<double, 2> means{};
    for (std::size_t i = 0; i < num_a + num_b; ++i) {
      noise.push_back(testing::philox_unit({.seed = 5,
                                            .test = static_cast<std::uint32_t>(test * 100 + i),
                                            .sample = static_cast<std::uint32_t>(sample),
                                            .word = static_cast<std::uint32_t>(target)}));
      means[i < num_a ? 0 : 1] += noise.back() / static_cast<double>(i < num_a ? num_a : num_b);
    }
    double within = 0;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      noise[i] -= means[i < num_a ? 0 : 1];
      within += noise[i] * noise[i];
    }
    const double s = association(test, sample, target);
    const double between = s * s * static_cast<double>(num_a * num_b) / static_cast<double>(num_a + num_b);
    const double squares = deviation(test, sample) * deviation(test, sample) * static_cast<double>(noise.size() - 1);
    std::vector<float> values;
    for (std::size_t i = 0; i < noise.size(); ++i) {
      values.push_back(
          static_cast<float>(noise[i] * std::sqrt((squares - between) / within) + (i < num_a ? s / 2 : -s / 2)));
    }
    return values;
  }
  void set_shift(double shift) { shift_ = shift; }
  /// The sample whose associations are all equal.
  void break_sample(std::size_t sample) { broken_ = sample; }
  std::filesystem::path folder() const { return folder_; }
  /// What is written; to make files that no run has written.
  results::RawSchema& schema() { return schema_; }

  std::unique_ptr<results::ResultFile> write() const {
    const sweep::BlockPlan blocks(sweep::Product({settings_.tests.size(), num_samples_}), num_samples_);
    const auto path = folder_ / "contexts.h5";
    results::export_run(
        {"synthetic",
         "contexts",
         &schema_,
         &blocks,
         [this](const sweep::Block& block) { return std::optional(block_of(block.first_context / num_samples_)); },
         {{"created", "2026-11-21T00:00:00Z"}},
         {}},
        path);
    return std::make_unique<results::ResultFile>(path);
  }

 private:
  results::RawBlock block_of(std::size_t test) const {
    const auto& sets = settings_.tests[test];
    const auto num_x = sets.x.words.size();
    const auto num_targets = num_x + sets.y.words.size();
    std::vector<double> associations;
    std::vector<double> deviations;
    std::vector<double> effects;
    std::vector<double> variances;
    std::vector<std::uint8_t> status;
    std::vector<float> all_cosines;
    std::vector<double> of_attributes;
    for (std::size_t sample = 0; sample < num_samples_; ++sample) {
      auto attributes = sets.kind == Kind::weat ? attribute_associations(test, sample) : std::vector<double>();
      attributes.resize(schema_.inner_axis("weat_attribute").labels.size(), stats::nan);
      of_attributes.insert(of_attributes.end(), attributes.begin(), attributes.end());
      std::vector<double> own;
      for (std::size_t target = 0; target < num_slots_; ++target) {
        const bool exists = target < num_targets;
        own.push_back(!exists ? stats::nan : sample == broken_ ? 0.25 : association(test, sample, target));
        deviations.push_back(exists && sets.kind == Kind::wefat ? deviation(test, sample) : stats::nan);
        auto cosines_of_target =
            exists && sets.kind == Kind::wefat ? cosines(test, sample, target) : std::vector<float>();
        cosines_of_target.resize(has_wefat_ ? schema_.inner_axis("attribute").labels.size() : 0,
                                 std::numeric_limits<float>::quiet_NaN());
        all_cosines.insert(all_cosines.end(), cosines_of_target.begin(), cosines_of_target.end());
      }
      associations.insert(associations.end(), own.begin(), own.end());
      const auto border = own.begin() + static_cast<std::ptrdiff_t>(num_x);
      const std::vector<double> x(own.begin(), border);
      const std::vector<double> y(border, own.begin() + static_cast<std::ptrdiff_t>(num_targets));
      const auto effect = testing::effect_size(x, y);
      const bool is_weat = sets.kind == Kind::weat;
      effects.push_back(is_weat ? effect.value : stats::nan);
      variances.push_back(is_weat ? effect.deviation * effect.deviation : stats::nan);
      status.push_back(is_weat && std::isnan(effect.value) ? static_cast<std::uint8_t>(EffectStatus::zero_deviation)
                                                           : std::uint8_t{0});
    }
    results::RawBlock block{{associations, effects, variances, status, of_attributes}};
    if (has_wefat_) {
      block.columns.emplace_back(deviations);
      block.columns.emplace_back(all_cosines);
    }
    return block;
  }

  std::size_t num_samples_;
  std::filesystem::path folder_;
  Contexts settings_;
  std::vector<WordVectors> words_;
  std::vector<TestInUse> in_use_;
  results::RawSchema schema_;
  std::size_t num_slots_ = 0;
  bool has_wefat_ = false;
  double shift_ = 0.2;
  std::size_t broken_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace stereosweep::probes::contexts
