#include <algorithm>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "findings/Cells.hpp"
#include "findings/intersections/Intersections.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;

/// A coordinate of the subjects; empty texts where they have none of this name.
std::vector<std::string> subject_coordinate(const AxisSchema& subjects, const char* name) {
  const auto* values = subjects.find_coordinate(name);
  return values == nullptr ? std::vector<std::string>(subjects.labels.size()) : *values;
}

class NamedParts {
 public:
  explicit NamedParts(const AxisSchema& subjects)
      : kinds_(subject_coordinate(subjects, "kind")),
        firsts_(subject_coordinate(subjects, "first")),
        seconds_(subject_coordinate(subjects, "second")) {
    constexpr std::array<std::string_view, 4> known = {"kind", "domain", "first", "second"};
    for (const auto& other : subjects.coordinates) {
      if (!base::contains(known, other.name)) {
        others_.push_back(&other.values);
      }
    }
    for (std::size_t subject = 0; subject < kinds_.size(); ++subject) {
      if (kinds_[subject] == "group") {
        groups_[firsts_[subject]].push_back(subject);
      } else if (kinds_[subject] == "intersection") {
        pairs_[{firsts_[subject], seconds_[subject]}].push_back(subject);
      }
    }
  }

  bool is_intersection(std::size_t subject) const {
    return kinds_[subject] == "intersection" && !firsts_[subject].empty() && !seconds_[subject].empty();
  }
  Intersection find(std::size_t subject) const {
    return {.subject = subject,
            .first = nearest(subject, groups_, firsts_[subject]),
            .second = nearest(subject, groups_, seconds_[subject]),
            .reversed = nearest(subject, pairs_, std::pair(seconds_[subject], firsts_[subject]))};
  }
  std::optional<std::size_t> baseline() const {
    const auto found = std::ranges::find(kinds_, "baseline");
    const bool is_one = found != kinds_.end() && std::find(found + 1, kinds_.end(), "baseline") == kinds_.end();
    return is_one ? std::optional(static_cast<std::size_t>(found - kinds_.begin())) : std::nullopt;
  }

 private:
  std::size_t num_shared(std::size_t left, std::size_t right) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(others_, [&](const auto* values) { return (*values)[left] == (*values)[right]; }));
  }

  template <class Key>
  std::optional<std::size_t> nearest(std::size_t subject, const std::map<Key, std::vector<std::size_t>>& places,
                                     const Key& key) const {
    const auto found = places.find(key);
    if (found == places.end()) {
      return std::nullopt;
    }
    std::optional<std::size_t> best;
    std::size_t most = 0;
    for (const auto candidate : found->second) {
      const auto shared = num_shared(subject, candidate) + 1;
      if (shared > most) {
        best = candidate;
        most = shared;
      } else if (shared == most) {
        best.reset();
      }
    }
    return best;
  }

  std::vector<std::string> kinds_;
  std::vector<std::string> firsts_;
  std::vector<std::string> seconds_;
  std::vector<const std::vector<std::string>*> others_;
  std::map<std::string, std::vector<std::size_t>> groups_;
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> pairs_;
};

}  // namespace

IntersectionParts parts_of(const AxisSchema& subjects) {
  const NamedParts finder(subjects);
  IntersectionParts parts{
      .intersections = {}, .baseline = finder.baseline(), .domains = subject_coordinate(subjects, "domain")};
  for (std::size_t subject = 0; subject < subjects.labels.size(); ++subject) {
    if (finder.is_intersection(subject)) {
      parts.intersections.push_back(finder.find(subject));
    }
  }
  base::refuse_if(parts.intersections.empty(), "statistics.intersections: there are none",
                  "no subject of the score table is of the kind 'intersection'", "Give the job 'axes.intersections'.");
  return parts;
}

CellScores cells_of_items(const Scores& scores, std::size_t measure) {
  return {scores.length(template_axis), scores.length(rephrasing_axis), scores.length(item_axis),
          cell_values(scores, scores.read(measure)), ends_of(*scores.axes[measure_axis], measure)};
}

CellScores cells_of_poles(const Scores& scores, std::size_t measure) {
  return {scores.length(template_axis), scores.length(rephrasing_axis), scores.poles->labels.size(),
          scores.read_poles(measure)};
}

}  // namespace stereosweep::findings
