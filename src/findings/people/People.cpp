#include "findings/people/People.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/process/Processors.hpp"
#include "base/text/Text.hpp"
#include "findings/Cells.hpp"
#include "findings/Streams.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/people/RatingsFile.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/PValues.hpp"

namespace stereosweep::findings {
namespace {

using sweep::People;
constexpr const char* key = "statistics.people";
constexpr std::size_t most_draws = 10'000;  // of a permutation p; rows, measures and subgroups are many
constexpr std::size_t most_subgroups = 200;

void refuse_if(bool is_wrong, const std::string& problem, const std::string& why, const std::string& suggestion = "") {
  base::refuse_if(is_wrong, std::string(key) + ": " + problem, why, suggestion);
}

RatedNames names_of(const Scores& scores) {
  RatedNames names{scores.axes[subject_axis]->labels, {}};
  const auto& schema = *scores.axes[item_axis];
  const auto* left = schema.find_coordinate("left");
  const auto* right = schema.find_coordinate("right");
  for (std::size_t item = 0; item < schema.labels.size(); ++item) {
    const auto& label = schema.labels[item];
    const bool has_poles = left != nullptr && right != nullptr;
    names.items.push_back({label, has_poles ? (*left)[item] : label, has_poles ? (*right)[item] : label});
  }
  return names;
}

/// Which of the labels that these `members` of `places` have of a coordinate each of them has, counted from 0; an empty
/// label is one of its own. Empty without the coordinate.
std::vector<std::size_t> blocks_of(const results::AxisSchema& axis, const char* coordinate,
                                   const std::vector<std::size_t>& places, const std::vector<std::size_t>& members) {
  const auto* labels = axis.find_coordinate(coordinate);
  std::vector<std::size_t> blocks;
  std::map<std::string, std::size_t> known;
  for (std::size_t place = 0; labels != nullptr && place < members.size(); ++place) {
    const auto& label = (*labels)[places[members[place]]];
    blocks.push_back(
        known.try_emplace(label.empty() ? "\n" + std::to_string(place) : label, known.size()).first->second);
  }
  return blocks;
}

/// The table's answers by their places among the rated subjects and items.
struct Answers {
  std::vector<std::size_t> subjects;  ///< rated ones: places on the score table's axis
  std::vector<std::size_t> items;
  std::vector<std::string> annotators;  ///< in alphabetical order; none: means
  std::vector<std::string> subgroups;
  std::vector<PlacedAnswer> rows;
  stats::ScaleEnds scale;

  AnswerTable table(std::span<const PlacedAnswer> some) const { return {some, subjects.size(), items.size(), scale}; }
};

Answers place_answers(const Ratings& ratings, const Scores& scores, const People& people) {
  const auto is_known = [](const Rating& row) { return row.subject && row.item; };
  std::set<std::size_t> rated_subjects;
  std::set<std::size_t> rated_items;
  std::set<std::string> annotators;
  std::set<std::string> subgroups;
  for (const auto& row : ratings.rows) {
    if (is_known(row)) {
      rated_subjects.insert(*row.subject);
      rated_items.insert(*row.item);
      annotators.insert(row.annotator);
      subgroups.insert(row.subgroup);
    }
  }
  refuse_if(rated_subjects.empty(), "the ratings of '" + people.ratings + "' cannot be used",
            "none of their subjects and items is in the score table",
            ratings.unmatched_groups.empty()
                ? ""
                : base::did_you_mean(ratings.unmatched_groups.front(), scores.axes[subject_axis]->labels));
  annotators.erase("");
  subgroups.erase("");
  refuse_if(subgroups.size() > most_subgroups,
            "'subgroups: " + people.subgroups + "' has " + base::with_thousands(subgroups.size()) + " values",
            "at most " + std::to_string(most_subgroups) + " are told apart");
  Answers answers{.subjects = {rated_subjects.begin(), rated_subjects.end()},
                  .items = {rated_items.begin(), rated_items.end()},
                  .annotators = {annotators.begin(), annotators.end()},
                  .subgroups = {subgroups.begin(), subgroups.end()},
                  .rows = {},
                  .scale = {people.low, people.high}};
  const auto place = [](const auto& sorted, const auto& value) {
    return static_cast<std::size_t>(std::ranges::lower_bound(sorted, value) - sorted.begin());
  };
  for (const auto& row : ratings.rows) {
    if (is_known(row)) {
      answers.rows.push_back({place(answers.subjects, *row.subject), place(answers.items, *row.item),
                              row.annotator.empty() ? 0 : place(answers.annotators, row.annotator), row.mean,
                              row.subgroup});
    }
  }
  return answers;
}

/// The rated cells of one measure.
ScoreCells cells_of(const Scores& scores, std::size_t measure, const Answers& answers) {
  const auto values = scores.read(measure);
  const Cells all(scores, values);
  ScoreCells cells{scores.length(template_axis), scores.length(rephrasing_axis), {}};
  cells.values.reserve(all.num_sentences() * answers.subjects.size() * answers.items.size());
  for (std::size_t sentence = 0; sentence < all.num_sentences(); ++sentence) {
    for (const auto subject : answers.subjects) {
      for (const auto item : answers.items) {
        cells.values.push_back(all.at(subject, sentence, item));
      }
    }
  }
  return cells;
}

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

std::vector<PeopleRow> rows_of(const Scores& scores, const Answers& answers) {
  const auto all_subjects = all_of(answers.subjects.size());
  const auto all_items = all_of(answers.items.size());
  std::vector<PeopleRow> rows = {{PeopleRow::Kind::pooled, "pooled", all_subjects, all_items}};
  for (auto& dimension : dimension_groups(scores.axes[item_axis]->part(answers.items))) {
    rows.push_back({PeopleRow::Kind::dimension, dimension.name, all_subjects, std::move(dimension.items)});
  }
  for (const auto subject : all_subjects) {
    const auto& name = scores.axes[subject_axis]->labels[answers.subjects[subject]];
    rows.push_back({PeopleRow::Kind::subject, name, {subject}, all_items});
  }
  return rows;
}

RatedTable part_of(const std::vector<double>& scores, const std::vector<double>& ratings, const CellList& cells,
                   std::size_t num_items) {
  return {num_items, base::mapped(cells, [&](std::size_t cell) { return scores[cell]; }),
          base::mapped(cells, [&](std::size_t cell) { return ratings[cell]; })};
}

BootstrapSettings bootstrap_of(const Scores& scores, const Answers& answers, const sweep::Comparison& comparison,
                               std::uint64_t seed) {
  const auto& people = *comparison.people;
  const auto is_asked = [&](People::Drawn drawn) { return people.over.empty() || base::contains(people.over, drawn); };
  refuse_if(!people.over.empty() && is_asked(People::Drawn::annotators) && answers.annotators.empty(),
            "annotators cannot be drawn ('over')",
            "'" + people.ratings + "' holds means: it has no column 'annotator'");
  return {
      .draws_annotators = is_asked(People::Drawn::annotators) && answers.table(answers.rows).has_several_annotators(),
      .draws_templates = is_asked(People::Drawn::templates) && scores.length(template_axis) > 1,
      .draws_rephrasings = is_asked(People::Drawn::rephrasings) && scores.length(rephrasing_axis) > 1,
      .replicates = static_cast<std::size_t>(comparison.replicates),
      .seed = seed,
      .num_threads = base::num_own_processors()};
}

/// Answers that choose the templates, and those that judge them.
struct Split {
  std::vector<PlacedAnswer> pilot;
  std::vector<PlacedAnswer> rest;
  std::string description;
};

/// [known]: whether it is one of these names; `noun`: what they are names of.
std::vector<bool> chosen_of(const std::vector<std::string>& known, const std::vector<std::string>& names,
                            const std::string& noun, const std::string& why_not) {
  std::vector<bool> chosen(known.size(), false);
  for (const auto& name : names) {
    const auto place = results::place_of(known, name);
    refuse_if(!place, "no " + noun + " '" + name + "' ('selection.pilot_" + noun + "s')", why_not,
              base::did_you_mean(name, known));
    chosen[*place] = true;
  }
  return chosen;
}

/// [annotator]: part of the pilot. A share is drawn among the names in alphabetical order.
std::vector<bool> pilot_annotators(const Answers& answers, const People::Pilot& pilot) {
  auto chosen = chosen_of(answers.annotators, pilot.annotators.names, "annotator", "no row that counts has the name");
  if (pilot.annotators.share > 0) {
    auto order = all_of(chosen.size());
    const auto wanted =
        static_cast<std::size_t>(std::lround(pilot.annotators.share * static_cast<double>(order.size())));
    for (std::size_t place = 0; place < wanted; ++place) {
      std::swap(order[place], order[place + base::random_below(order.size() - place, pilot.annotators.seed,
                                                               start_of(Stream::annotators), place)]);
      chosen[order[place]] = true;
    }
  }
  return chosen;
}

Split split_answers(const Scores& scores, const Answers& answers, const People::Pilot& pilot) {
  const bool by_annotator = pilot.annotators.share > 0 || !pilot.annotators.names.empty();
  const bool by_subject = !pilot.subjects.empty();
  refuse_if(by_annotator && answers.annotators.empty(), "no annotators to choose by ('selection.pilot_annotators')",
            "the table holds means");
  const auto of_annotators = pilot_annotators(answers, pilot);
  const auto of_subjects = chosen_of(scores.axes[subject_axis]->part(answers.subjects).labels, pilot.subjects,
                                     "subject", "nobody rated one of this label");
  Split split;
  for (const auto& answer : answers.rows) {
    const bool in_annotators = !by_annotator || of_annotators[answer.annotator];
    const bool in_subjects = !by_subject || of_subjects[answer.subject];
    const bool out_of_annotators = !by_annotator || !of_annotators[answer.annotator];
    const bool out_of_subjects = !by_subject || !of_subjects[answer.subject];
    if (in_annotators && in_subjects) {
      split.pilot.push_back(answer);
    } else if (out_of_annotators && out_of_subjects) {
      split.rest.push_back(answer);
    }
  }
  const auto count = [](const std::vector<bool>& chosen) {
    return static_cast<std::uint64_t>(std::ranges::count(chosen, true));
  };
  split.description = (by_annotator ? base::counted(count(of_annotators), "annotator") : "everybody") + " about " +
                      (by_subject ? base::counted(count(of_subjects), "subject") : "all subjects");
  refuse_if(split.pilot.empty() || split.rest.empty(),
            split.pilot.empty() ? "the pilot has no answers ('selection')" : "the pilot leaves nothing ('selection')",
            "templates are chosen on one part of the answers and judged on the other");
  return split;
}

SelectedTemplates select_templates(const ScoreCells& scores, const Answers& answers, const Split& split,
                                   const People::Pilot& pilot) {
  const auto by_template = scores.by_template();
  refuse_if(by_template.size() > max_templates_to_choose,
            "'selection' of one or two of " + std::to_string(by_template.size()) + " templates",
            "it is made of at most " + std::to_string(max_templates_to_choose));
  const std::array ratings = {answers.table(split.pilot).means(), answers.table(split.rest).means()};
  SelectedTemplates selected;
  selected.choice = choose_templates(by_template, ratings[0], static_cast<std::size_t>(pilot.most));
  const auto judge = [&](const std::vector<double>& of_templates, std::array<TableAgreement, 2>& judged) {
    for (std::size_t part = 0; part < ratings.size(); ++part) {
      judged[part] = agreement_of({answers.items.size(), of_templates, ratings[part]});
    }
  };
  if (selected.choice) {
    judge(mean_of_templates(by_template, selected.choice->templates), selected.judged[0]);
  }
  judge(scores.means(), selected.judged[1]);
  return selected;
}

class PeopleComparer {
 public:
  PeopleComparer(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed)
      : scores_(scores), comparison_(comparison), people_(*comparison.people) {
    result_.measures = chosen_measures(scores, people_.measures, key);
    const auto ratings = read_ratings(people_, names_of(scores));
    answers_ = place_answers(ratings, scores, people_);
    result_.rows = rows_of(scores, answers_);
    result_.source = source_of_ratings(people_.ratings);
    result_.bootstrap = bootstrap_of(scores, answers_, comparison, seed);
    result_.shuffles = {.draws = std::min(most_draws, static_cast<std::size_t>(comparison.draws)),
                        .seed = seed,
                        .num_threads = result_.bootstrap.num_threads};
    result_.measure_axis = measure_axis_of(scores, result_.measures, "people_measure");
    result_.subject_axis = *scores.axes[subject_axis];
    result_.item_axis = *scores.axes[item_axis];
    result_.template_axis = *scores.axes[template_axis];
    result_.num_subjects = answers_.subjects.size();
    result_.num_items = answers_.items.size();
    result_.notes = ratings.notes;
    note_unmatched("subject", ratings.unmatched_groups);
    note_unmatched("item", ratings.unmatched_pairs);
    add_group("all", answers_.rows);
    for (const auto& subgroup : answers_.subgroups) {
      std::vector<PlacedAnswer> some;
      std::ranges::copy_if(answers_.rows, std::back_inserter(some),
                           [&](const PlacedAnswer& answer) { return answer.subgroup == subgroup; });
      add_group(people_.subgroups + ": " + subgroup, some);
    }
  }

  PeopleAgreement compare() {
    const auto split = people_.pilot ? split_answers(scores_, answers_, *people_.pilot) : Split();
    result_.pilot = split.description;
    for (const auto measure : result_.measures) {
      const auto cells = cells_of(scores_, measure, answers_);
      for (const auto& table : tables_) {
        add_cells(cells, table);
      }
      if (cells.num_templates > 1) {
        for (auto& scores : cells.by_template()) {
          result_.by_template.push_back(
              agreement_of({answers_.items.size(), std::move(scores), tables_.front().means()}));
        }
      }
      if (people_.pilot) {
        result_.selected.push_back(select_templates(cells, answers_, split, *people_.pilot));
      }
    }
    return std::move(result_);
  }

 private:
  void note_unmatched(const std::string& noun, const std::vector<std::string>& names) {
    if (!names.empty()) {
      result_.notes.push_back(base::counted(names.size(), "rated " + noun) +
                              " not in the result: " + base::join(names, ", "));
    }
  }

  void add_group(const std::string& name, const std::vector<PlacedAnswer>& answers) {
    tables_.push_back(answers_.table(answers));
    result_.groups.push_back(name);
    result_.num_answers.push_back(answers.size());
    std::set<std::size_t> annotators;
    for (const auto& answer : answers) {
      annotators.insert(answer.annotator);
    }
    result_.num_annotators.push_back(answers_.annotators.empty() ? 0 : annotators.size());
    const auto means = tables_.back().means();
    const auto num_items = scores_.length(item_axis);
    const auto first = result_.means.size();
    result_.means.resize(first + scores_.length(subject_axis) * num_items, stats::nan);
    for (std::size_t cell = 0; cell < means.size(); ++cell) {
      const auto subject = answers_.subjects[cell / answers_.items.size()];
      const auto item = answers_.items[cell % answers_.items.size()];
      result_.means[first + subject * num_items + item] = means[cell];
    }
  }

  void add_cells(const ScoreCells& cells, const AnswerTable& answers) {
    const auto& rows = result_.rows;
    const auto lists = base::mapped(rows, [&](const PeopleRow& row) { return row.cells(answers_.items.size()); });
    const auto scores = cells.means();
    const auto ratings = answers.means();
    const auto& bootstrap = result_.bootstrap;
    std::vector<std::vector<double>> taus(lists.size());
    if (bootstrap.draws_annotators || bootstrap.draws_templates || bootstrap.draws_rephrasings) {
      taus = bootstrap_tau(cells, answers, lists, bootstrap, scores_.ranks);
    }
    auto compared = base::joined(share<PeopleCell>(scores_.ranks, rows.size(), [&](std::size_t row) {
      const auto table = part_of(scores, ratings, lists[row], rows[row].items.size());
      auto cell = cell_of(table, rows[row]);
      add_interval(taus[row], drawn_degrees(cells, answers, lists[row], bootstrap), cell);
      return std::vector{cell};
    }));
    std::map<PeopleRow::Kind, std::vector<PeopleCell*>> kinds;
    for (std::size_t row = 0; row < compared.size(); ++row) {
      kinds[rows[row].kind].push_back(&compared[row]);
    }
    for (const auto& [kind, of_kind] : kinds) {
      stats::adjust_rows(
          of_kind, [](const PeopleCell* cell) { return cell->shuffled.cited(); }, &PeopleCell::p_holm,
          stats::Adjustment::holm);
    }
    result_.cells.insert(result_.cells.end(), compared.begin(), compared.end());
  }

  PeopleCell cell_of(const RatedTable& table, const PeopleRow& row) const {
    PeopleCell cell;
    cell.agreement = agreement_of(table);
    if (row.kind == PeopleRow::Kind::subject) {
      cell.agreement.mean_tau = {};
    }
    if (cell.agreement.tau.defined()) {
      const auto dimensions = blocks_of(result_.item_axis, "dimension", answers_.items, row.items);
      const auto domains = blocks_of(result_.subject_axis, "domain", answers_.subjects, row.subjects);
      cell.shuffled = shuffled_p(table, dimensions, domains, result_.shuffles);
    }
    return cell;
  }

  void add_interval(std::span<const double> taus, double degrees, PeopleCell& cell) const {
    const auto& tau = cell.agreement.tau;
    if (taus.empty() || !tau.defined()) {
      cell.interval.reason = taus.empty() ? stats::Reason::too_few : tau.reason;
      return;
    }
    cell.interval = tau_interval(taus, tau.value, degrees, comparison_.confidence);
    if (cell.interval.reason == stats::Reason::ok) {
      cell.bias = stats::mean(stats::finite(taus)).value - tau.value;
    }
  }

  const Scores& scores_;
  const sweep::Comparison& comparison_;
  const People& people_;
  Answers answers_;
  std::vector<AnswerTable> tables_;  ///< [group]
  PeopleAgreement result_;
};

}  // namespace

CellList PeopleRow::cells(std::size_t num_items) const {
  CellList list;
  for (const auto subject : subjects) {
    for (const auto item : items) {
      list.push_back(subject * num_items + item);
    }
  }
  return list;
}

PeopleAgreement agree_with_people(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  return PeopleComparer(scores, comparison, seed).compare();
}

}  // namespace stereosweep::findings
