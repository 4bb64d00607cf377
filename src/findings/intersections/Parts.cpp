#include <algorithm>
#include <map>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "findings/intersections/Intersections.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;

/// A coordinate of the subjects; empty texts where they have none of this name.
std::vector<std::string> subject_coordinate(const AxisSchema& subjects, const std::string& name) {
  const auto* values = subjects.find_coordinate(name);
  return values == nullptr ? std::vector<std::string>(subjects.labels.size()) : *values;
}

using Labels = std::vector<std::string>;

class NamedParts {
 public:
  explicit NamedParts(const AxisSchema& subjects)
      : kinds_(subject_coordinate(subjects, "kind")), parts_(part_labels(subjects)) {
    for (const auto& other : subjects.coordinates) {
      if (other.name != "kind" && other.name != "domain" && !base::contains(sweep::part_names, other.name)) {
        others_.push_back(&other.values);
      }
    }
    for (std::size_t subject = 0; subject < kinds_.size(); ++subject) {
      if ((kinds_[subject] == "group" && !parts_[subject].empty()) || is_intersection(subject)) {
        places_[parts_[subject]].push_back(subject);
      }
    }
  }

  bool is_intersection(std::size_t subject) const {
    return kinds_[subject] == "intersection" && parts_[subject].size() > 1;
  }
  Intersection find(std::size_t subject) const {
    const auto& labels = parts_[subject];
    return {.subject = subject,
            .parts = base::mapped(labels, [&](const std::string& label) { return nearest(subject, {label}); }),
            .reversed = nearest(subject, Labels(labels.rbegin(), labels.rend()))};
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

  std::optional<std::size_t> nearest(std::size_t subject, const Labels& labels) const {
    const auto found = places_.find(labels);
    if (found == places_.end()) {
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
  std::vector<Labels> parts_;  ///< [subject]
  std::vector<const std::vector<std::string>*> others_;
  std::map<Labels, std::vector<std::size_t>> places_;  ///< of groups, by their one label, and intersections
};

}  // namespace

std::vector<std::vector<std::string>> part_labels(const AxisSchema& subjects) {
  std::vector<std::vector<std::string>> labels(subjects.labels.size());
  for (const auto& name : sweep::part_names) {
    const auto values = subject_coordinate(subjects, name);
    for (std::size_t subject = 0; subject < labels.size(); ++subject) {
      if (!values[subject].empty()) {
        labels[subject].push_back(values[subject]);
      }
    }
  }
  return labels;
}

std::size_t IntersectionParts::most() const {
  const auto numbers = base::mapped(intersections, [](const auto& one) { return one.parts.size(); });
  return numbers.empty() ? 0 : std::ranges::max(numbers);
}

IntersectionParts parts_of(const AxisSchema& subjects) {
  const NamedParts finder(subjects);
  IntersectionParts parts{
      .intersections = {}, .baseline = finder.baseline(), .domains = subject_coordinate(subjects, "domain")};
  const auto found =
      base::places_where(subjects.labels.size(), [&](auto place) { return finder.is_intersection(place); });
  parts.intersections = base::mapped(found, [&](std::size_t subject) { return finder.find(subject); });
  base::refuse_if(parts.intersections.empty(), "statistics.intersections: there are none",
                  "no subject of the score table is of the kind 'intersection'", "Give the job 'axes.intersections'.");
  return parts;
}

}  // namespace stereosweep::findings
