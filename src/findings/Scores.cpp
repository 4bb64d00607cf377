#include "findings/Scores.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
Scores scores_of(const results::ScoreTableAxes& axes) {
  Scores scores;
  std::ranges::transform(axes, scores.axes.begin(), [](const auto& axis) { return &axis; });
  scores.read = [](std::size_t /*measure*/) -> std::vector<double> { throw NoNumbers(); };
  return scores;
}

Scores scores_of(results::StatisticsFile& file) {
  Scores scores;
  for (std::size_t axis = 0; axis < scores.axes.size(); ++axis) {
    scores.axes[axis] = &file.layout().axis(results::score_axis_names[axis]);
  }
  scores.read = [&file](std::size_t measure) { return results::read_part<double>(file.root(), "score", measure); };
  scores.read_statuses = [&file](std::size_t measure) {
    return results::read_part<std::uint8_t>(file.root(), "score_status", measure);
  };
  if (file.root().contains(results::pole_score_name)) {
    scores.add_poles(file.layout().axis("pole"), [&file](std::size_t measure) {
      return results::read_part<double>(file.root(), results::pole_score_name, measure);
    });
  }
  return scores;
}

Scores scores_of(const results::ScoreFile& file) {
  auto scores = scores_of(file.axes());
  scores.read = [&file](std::size_t measure) { return file.read(measure); };
  scores.read_statuses = [&file](std::size_t measure) { return file.read_statuses(measure); };
  return scores;
}

Scores with_templates(const Scores& scores, const std::vector<std::string>& labels) {
  const auto& all = *scores.axes[template_axis];
  std::vector<std::size_t> places;
  for (const auto& label : labels) {
    const auto place = results::place_of(all.labels, label);
    if (!place) {
      throw base::InputError(
          no_such_name("unknown template '" + label + "' in statistics.templates", label, all.labels));
    }
    places.push_back(*place);
  }
  std::ranges::sort(places);
  auto axis = all.part(places);
  axis.name = "chosen_template";
  const auto chosen = std::make_shared<const results::AxisSchema>(std::move(axis));
  const auto narrowed = [&]<class Value>(const std::function<std::vector<Value>(std::size_t)>& read) {
    const auto read_some = [=, num_subjects = scores.length(subject_axis),
                            num_templates = all.labels.size()](std::size_t measure) {
      const auto values = read(measure);
      const auto length = values.size() / (num_subjects * num_templates);
      std::vector<Value> own;
      own.reserve(num_subjects * chosen->labels.size() * length);  // `chosen` keeps the axis that the table borrows
      for (std::size_t subject = 0; subject < num_subjects; ++subject) {
        for (const auto place : places) {
          const auto first = values.begin() + static_cast<std::ptrdiff_t>((subject * num_templates + place) * length);
          own.insert(own.end(), first, first + static_cast<std::ptrdiff_t>(length));
        }
      }
      return own;
    };
    return read ? std::function<std::vector<Value>(std::size_t)>(read_some) : read;
  };
  auto some = scores;
  some.axes[template_axis] = chosen.get();
  some.read = narrowed(scores.read);
  some.read_statuses = narrowed(scores.read_statuses);
  some.poles = scores.poles ? std::make_shared<const Scores>(with_templates(*scores.poles, labels)) : nullptr;
  return some;
}

std::string no_such_name(const std::string& problem, const std::string& name, const std::vector<std::string>& known) {
  constexpr std::size_t most = 6;
  auto suggestion = base::did_you_mean(name, known);
  if (suggestion.empty()) {
    std::vector<std::string> names;
    std::ranges::for_each(known, [&](const auto& one) { base::add_once(names, one); });
    std::erase(names, "");
    suggestion = names.empty() ? "" : "Known here: " + results::first_names(names, most) + ".";
  }
  return base::describe(problem, "the score table has none", suggestion);
}

std::vector<std::size_t> chosen_measures(const Scores& scores, const std::vector<std::string>& labels,
                                         const std::string& key, std::vector<std::string>& faults) {
  const auto& known = scores.axes[measure_axis]->labels;
  for (const auto& label : labels) {
    if (!base::contains(known, label)) {
      faults.push_back(no_such_name(key + ": no measure '" + label + "'", label, known));
    }
  }
  const auto is_chosen = [&](auto measure) { return labels.empty() || base::contains(labels, known[measure]); };
  return base::places_where(known.size(), is_chosen);
}

std::vector<std::size_t> chosen_measures(const Scores& scores, const std::vector<std::string>& labels,
                                         const std::string& key) {
  std::vector<std::string> faults;
  auto measures = chosen_measures(scores, labels, key, faults);
  require_no_faults(faults);
  return measures;
}

void require_no_faults(const std::vector<std::string>& faults) {
  std::vector<std::string> once;
  for (const auto& fault : faults) {
    base::add_once(once, fault);
  }
  if (!once.empty()) {
    throw base::InputError(base::join(once, "\n"));
  }
}

std::optional<stats::ScaleEnds> ends_of(const results::AxisSchema& measures, std::size_t measure) {
  const auto lowest = base::parse_double(measures.value("lowest", measure));
  const auto highest = base::parse_double(measures.value("highest", measure));
  return lowest && highest && *lowest < *highest ? std::optional(stats::ScaleEnds{*lowest, *highest}) : std::nullopt;
}

std::int32_t answers_in_score(const results::AxisSchema& measures, std::size_t measure) {
  const auto* counts = measures.find_coordinate(answers_name);
  const bool has_none = counts == nullptr || std::ranges::all_of(*counts, [](const auto& one) { return one == "0"; });
  return has_none ? -1 : static_cast<std::int32_t>(base::parse_double((*counts)[measure]).value_or(0));
}

}  // namespace stereosweep::findings
