#include "probes/interview/statistics/Consistency.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "probes/Probe.hpp"
#include "probes/interview/InterviewProbe.hpp"
#include "probes/interview/InterviewScores.hpp"

namespace stereosweep::probes::interview {
namespace {

class ConsistencyFinder {
 public:
  ConsistencyFinder(const results::ScoreTable& table, const std::vector<std::string>& turns)
      : table_(table), turns_(turns), item_dimensions_(coordinate_of(table.axes[5], "dimension")) {
    for (const auto& dimension : item_dimensions_) {
      if (std::ranges::find(found_.dimensions, dimension) == found_.dimensions.end()) {
        found_.dimensions.push_back(dimension);
      }
    }
    found_.of_subjects.resize(table.length(1));
    found_.of_forms.resize(table.length(2));
  }

  Consistency take() {
    const auto num_rounds = table_.length(4);
    for (std::size_t form = 0; form < table_.length(2); ++form) {
      for (std::size_t subject = 0; subject < table_.length(1); ++subject) {
        for (const auto& dimension : found_.dimensions) {
          std::vector<double> by_round;
          for (std::size_t round = 0; round < num_rounds; ++round) {
            by_round.push_back(mean_rating(subject, form, {round, round + 1}, dimension));
          }
          found_.over_rounds.push_back(variation_of_present(by_round));
          found_.to_first_form.push_back(
              form == 0 ? RatingVariation{{stats::nan, stats::Reason::too_few}, 1}
                        : variation_of_present({mean_rating(subject, 0, {0, num_rounds}, dimension),
                                                mean_rating(subject, form, {0, num_rounds}, dimension)}));
        }
        count_refusals(subject, form);
      }
    }
    for (std::size_t subject = 0; subject < table_.length(1); ++subject) {
      for (const auto& dimension : found_.dimensions) {
        std::vector<double> by_form;
        for (std::size_t form = 0; form < table_.length(2); ++form) {
          by_form.push_back(mean_rating(subject, form, {0, num_rounds}, dimension));
        }
        found_.over_forms.push_back(variation_of_present(by_form));
      }
    }
    return std::move(found_);
  }

 private:
  struct Rounds {
    std::size_t first = 0;
    std::size_t end = 0;
  };

  static RatingVariation variation_of_present(std::vector<double> values) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    return {stats::variation(values), static_cast<std::int32_t>(values.size())};
  }

  std::size_t cell(Measure measure, std::size_t subject, std::size_t form, std::size_t wording, std::size_t round,
                   std::size_t item) const {
    return table_.index({static_cast<std::size_t>(measure), subject, form, wording, round, item});
  }

  /// NaN: no rating.
  double mean_rating(std::size_t subject, std::size_t form, const Rounds& rounds, const std::string& dimension) const {
    std::vector<double> ratings;
    for (std::size_t wording = 0; wording < table_.length(3); ++wording) {
      for (auto round = rounds.first; round < rounds.end; ++round) {
        for (std::size_t item = 0; item < table_.length(5); ++item) {
          const double rating = table_.values[cell(Measure::rating, subject, form, wording, round, item)];
          if (item_dimensions_[item] == dimension && std::isfinite(rating)) {
            ratings.push_back(rating);
          }
        }
      }
    }
    return stats::mean(ratings).value;
  }

  void count_refusals(std::size_t subject, std::size_t form) {
    const auto num_items = table_.length(5);
    for (std::size_t wording = 0; wording < table_.length(3); ++wording) {
      for (std::size_t round = 0; round < table_.length(4); ++round) {
        for (std::size_t first = 0, end = 0; first < num_items; first = end) {
          std::size_t known = 0;
          std::size_t rated = 0;
          std::size_t refused = 0;
          for (end = first; end < num_items && turns_[end] == turns_[first]; ++end) {
            const double is_usable = table_.values[cell(Measure::usable, subject, form, wording, round, end)];
            const double is_refused = table_.values[cell(Measure::refused, subject, form, wording, round, end)];
            known += std::isfinite(is_usable) ? 1 : 0;
            rated += is_usable == 1 ? 1 : 0;
            refused += is_refused == 1 ? 1 : 0;
          }
          for (const auto& counts : {std::ref(found_.of_subjects[subject]), std::ref(found_.of_forms[form])}) {
            counts.get().texts += known > 0 ? 1 : 0;
            counts.get().refused += rated == 0 && refused > 0 ? 1 : 0;
            counts.get().unrated += known > 0 && rated == 0 ? 1 : 0;
          }
        }
      }
    }
  }

  const results::ScoreTable& table_;
  const std::vector<std::string>& turns_;
  const std::vector<std::string>& item_dimensions_;
  Consistency found_;
};

}  // namespace

std::vector<std::string> rating_turns(const results::RawSchema& schema) {
  if (!has_cube(schema, "rating")) {
    return {};
  }
  const auto& axis = schema.inner_axis("item");
  const auto& conversations = coordinate_of(axis, "conversation");
  const auto& turns = coordinate_of(axis, "turn");
  std::vector<std::string> both;
  for (std::size_t item = 0; item < axis.labels.size(); ++item) {
    both.push_back(conversations[item] + '\n' + turns[item]);
  }
  return both;
}

TextShare text_share(std::uint64_t count, std::uint64_t texts, std::optional<double> confidence) {
  if (texts == 0) {
    return {};
  }
  TextShare found{.share = static_cast<double>(count) / static_cast<double>(texts)};
  if (confidence) {
    const auto [low, high] = stats::fixed_draws_interval(count, texts, *confidence);
    found.low = low;
    found.high = high;
  }
  return found;
}

Consistency consistency_of(const results::ScoreTable& table, const std::vector<std::string>& turns) {
  return ConsistencyFinder(table, turns).take();
}

}  // namespace stereosweep::probes::interview
