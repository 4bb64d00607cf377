#include "findings/people/People.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
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
#include "findings/people/Agreement.hpp"
#include "findings/people/RatingsFile.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
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

/// Which cells: all, those of the items of one dimension, those of one subject.
struct PeopleRow {
  enum class Kind : std::uint8_t { pooled, dimension, subject };
  inline static const std::vector<std::string> kind_names = {"pooled", "dimension", "subject"};
  Kind kind = Kind::pooled;
  std::string name;
  std::vector<std::size_t> subjects;  ///< places among the rated ones
  std::vector<std::size_t> items;

  std::string kind_name() const { return kind_names.at(static_cast<std::size_t>(kind)); }
  CellList cells(std::size_t num_items) const {
    CellList list;
    for (const auto subject : subjects) {
      std::ranges::for_each(items, [&](std::size_t item) { list.push_back(subject * num_items + item); });
    }
    return list;
  }
};

/// One measure, group of annotators and row.
struct Cell {
  TableAgreement agreement;  ///< without `mean_tau` of one subject's row
  ShuffledP shuffled;
  double p_holm = stats::nan;  ///< `shuffled.cited()`, adjusted among the rows of its kind
  /// Of the tau that as many other annotators, templates and rephrasings would have on average (`tau_interval`).
  stats::Interval interval{stats::nan, stats::nan, stats::Reason::too_few};
  double bias = stats::nan;  ///< mean of the replicates minus tau: by so much noise would lower a tau of this size
};

/// All annotators, or those of a subgroup.
struct AnswerGroup {
  std::string name;  ///< "all", or "COLUMN: VALUE"
  SampledCells answers;
  std::size_t num_answers = 0;
  std::size_t num_annotators = 0;  ///< 0: the table holds means
};

/// Templates that the pilot chose for one measure, and how the pilot and the rest judge them.
struct SelectedTemplates {
  std::optional<TemplateChoice> choice;
  std::array<std::array<TableAgreement, 2>, 2> judged;  ///< [chosen, all templates][pilot, held out]
};

/// The table's answers about what the score table holds.
struct Answers {
  std::vector<std::size_t> subjects;  ///< rated ones: places on the score table's axis
  std::vector<std::size_t> items;
  std::vector<std::string> annotators;  ///< in alphabetical order; none: means
  std::vector<std::string> subgroups;
  std::vector<Rating> rows;  ///< places are those among the rated subjects and items
  stats::ScaleEnds scale;

  /// `stream`: as cells_of_answers.
  SampledCells table(std::span<const Rating> some, std::optional<std::uint64_t> stream = {}) const {
    return cells_of_answers(some, subjects.size(), items.size(), scale, stream);
  }
};

Answers place_answers(const Ratings& ratings, const Scores& scores, const People& people) {
  std::set<std::size_t> rated_subjects;
  std::set<std::size_t> rated_items;
  std::set<std::string> annotators;
  std::set<std::string> subgroups;
  std::vector<Rating> known;
  for (const auto& row : ratings.rows) {
    if (row.subject && row.item) {
      rated_subjects.insert(*row.subject);
      rated_items.insert(*row.item);
      annotators.insert(row.annotator);
      subgroups.insert(row.subgroup);
      known.push_back(row);
    }
  }
  refuse_if(known.empty(), "the ratings of '" + people.ratings + "' cannot be used",
            "none of their subjects and items is in the score table",
            ratings.unmatched_groups.empty()
                ? ""
                : base::did_you_mean(ratings.unmatched_groups.front(), scores.axes[subject_axis]->labels));
  annotators.erase("");
  subgroups.erase("");
  refuse_if(subgroups.size() > most_subgroups,
            "'subgroups: " + people.subgroups + "' has " + base::with_thousands(subgroups.size()) + " values",
            "at most " + std::to_string(most_subgroups) + " are told apart");
  const auto place = [](const std::set<std::size_t>& rated, std::size_t one) {
    return static_cast<std::size_t>(std::distance(rated.begin(), rated.find(one)));
  };
  for (auto& row : known) {
    row.subject = place(rated_subjects, *row.subject);
    row.item = place(rated_items, *row.item);
  }
  return {.subjects = {rated_subjects.begin(), rated_subjects.end()},
          .items = {rated_items.begin(), rated_items.end()},
          .annotators = {annotators.begin(), annotators.end()},
          .subgroups = {subgroups.begin(), subgroups.end()},
          .rows = std::move(known),
          .scale = {people.low, people.high}};
}

std::vector<PeopleRow> rows_of(const Scores& scores, const Answers& answers) {
  const auto all_subjects = base::places_below(answers.subjects.size());
  const auto all_items = base::places_below(answers.items.size());
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

/// What intervals draw.
std::vector<People::Drawn> drawn_of(const Scores& scores, const Answers& answers, const People& people) {
  using enum People::Drawn;
  const auto is_asked = [&](People::Drawn drawn) { return people.over.empty() || base::contains(people.over, drawn); };
  refuse_if(!people.over.empty() && is_asked(annotators) && answers.annotators.empty(),
            "annotators cannot be drawn ('over')",
            "'" + people.ratings + "' holds means: it has no column 'annotator'");
  const auto tables = answers.table(answers.rows).tables;
  const bool has_several = std::ranges::any_of(tables, [](const auto& table) { return table.lines[0].count > 1; });
  std::vector<People::Drawn> drawn;
  for (const auto& [kind, is_there] :
       {std::pair(annotators, has_several), std::pair(templates, scores.length(template_axis) > 1),
        std::pair(rephrasings, scores.length(rephrasing_axis) > 1)}) {
    if (is_there && is_asked(kind)) {
      drawn.push_back(kind);
    }
  }
  return drawn;
}

/// Means over rephrasings, [template][subject, item].
std::vector<std::vector<double>> by_template(const SampledCells& scores) {
  const auto& [lines, values] = scores.tables.front();
  const auto length = lines[1].count * scores.cells_of_each;
  std::vector<std::vector<double>> tables;
  for (std::size_t first = 0; first < values.size(); first += length) {
    tables.push_back(means_of_columns(std::span(values).subspan(first, length), scores.cells_of_each));
  }
  return tables;
}

/// Answers that choose the templates, and those that judge them.
struct Split {
  std::vector<Rating> pilot;
  std::vector<Rating> rest;
  std::string description;
};

/// These names, which must be known; `noun`: what they are names of.
std::set<std::string> chosen_of(const std::vector<std::string>& known, const std::vector<std::string>& names,
                                const std::string& noun, const std::string& why_not) {
  for (const auto& name : names) {
    refuse_if(!base::contains(known, name), "no " + noun + " '" + name + "' ('selection.pilot_" + noun + "s')", why_not,
              base::did_you_mean(name, known));
  }
  return {names.begin(), names.end()};
}

/// Those that are part of the pilot. A share is drawn among the names in alphabetical order.
std::set<std::string> pilot_annotators(const Answers& answers, const People::Pilot& pilot) {
  auto chosen = chosen_of(answers.annotators, pilot.annotators.names, "annotator", "no row that counts has the name");
  if (pilot.annotators.share > 0) {
    auto order = answers.annotators;
    const auto wanted =
        static_cast<std::size_t>(std::lround(pilot.annotators.share * static_cast<double>(order.size())));
    for (std::size_t place = 0; place < wanted; ++place) {
      std::swap(order[place], order[place + base::random_below(order.size() - place, pilot.annotators.seed,
                                                               start_of(Stream::annotators), place)]);
      chosen.insert(order[place]);
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
  const auto labels = scores.axes[subject_axis]->part(answers.subjects).labels;
  const auto of_subjects = chosen_of(labels, pilot.subjects, "subject", "nobody rated one of this label");
  Split split;
  for (const auto& answer : answers.rows) {
    const bool in_annotators = of_annotators.contains(answer.annotator);
    const bool in_subjects = of_subjects.contains(labels[*answer.subject]);
    if ((!by_annotator || in_annotators) && (!by_subject || in_subjects)) {
      split.pilot.push_back(answer);
    } else if (!(by_annotator && in_annotators) && !(by_subject && in_subjects)) {
      split.rest.push_back(answer);
    }
  }
  split.description = (by_annotator ? base::counted(of_annotators.size(), "annotator") : "everybody") + " about " +
                      (by_subject ? base::counted(of_subjects.size(), "subject") : "all subjects");
  refuse_if(split.pilot.empty() || split.rest.empty(),
            split.pilot.empty() ? "the pilot has no answers ('selection')" : "the pilot leaves nothing ('selection')",
            "templates are chosen on one part of the answers and judged on the other");
  return split;
}

SelectedTemplates select_templates(const SampledCells& scores, const Answers& answers, const Split& split,
                                   const People::Pilot& pilot) {
  const auto tables = by_template(scores);
  refuse_if(tables.size() > max_templates_to_choose,
            "'selection' of one or two of " + std::to_string(tables.size()) + " templates",
            "it is made of at most " + std::to_string(max_templates_to_choose));
  const std::array ratings = {answers.table(split.pilot).means(), answers.table(split.rest).means()};
  SelectedTemplates selected;
  selected.choice = choose_templates(tables, ratings[0], static_cast<std::size_t>(pilot.most));
  const auto judge = [&](const std::vector<double>& of_templates, std::array<TableAgreement, 2>& judged) {
    for (std::size_t part = 0; part < ratings.size(); ++part) {
      judged[part] = agreement_of({answers.items.size(), of_templates, ratings[part]});
    }
  };
  if (selected.choice) {
    judge(mean_of_templates(tables, selected.choice->templates), selected.judged[0]);
  }
  judge(scores.means(), selected.judged[1]);
  return selected;
}

/// "annotators (within each subject), templates"; "" where nothing is drawn.
std::string words_of(const std::vector<People::Drawn>& drawn) {
  const std::array<std::string, 3> words = {"annotators (within each subject)", "templates", "rephrasings"};
  return base::join(base::mapped(drawn, [&](auto kind) { return words.at(static_cast<std::size_t>(kind)); }), ", ");
}

void add_judged(Finding& finding, const std::vector<TableAgreement>& judged, const std::string& of) {
  const RowColumns add{finding, judged};
  const auto tau = &TableAgreement::tau;
  add(Role::value, "tau", "1", "tau-b over all cells of all subjects" + of, tau, &stats::Correlation::value);
  add(Role::n, "n", "1", "cells that are rated and scored", tau, &stats::Correlation::n);
  add(Role::value, "precision_at_3", "1", "precision at 3, mean over subjects" + of, &TableAgreement::precision,
      &stats::Precision::mean, &stats::Value::value);
}

class PeopleComparer {
 public:
  PeopleComparer(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed)
      : scores_(scores),
        comparison_(comparison),
        people_(*comparison.people),
        measures_(chosen_measures(scores, people_.measures, key)),
        measure_axis_(measure_axis_of(scores, measures_, "people_measure")) {
    const auto ratings = read_ratings(people_, scores.axes[subject_axis]->labels, *scores.axes[item_axis]);
    answers_ = place_answers(ratings, scores, people_);
    rows_ = rows_of(scores, answers_);
    drawn_ = drawn_of(scores, answers_, people_);
    bootstrap_ = {static_cast<std::size_t>(comparison.replicates), seed, base::num_own_processors()};
    shuffles_ = {.draws = std::min(most_draws, static_cast<std::size_t>(comparison.draws)),
                 .seed = seed,
                 .num_threads = bootstrap_.num_threads};
    notes_ = ratings.notes;
    note_unmatched("subject", ratings.unmatched_groups);
    note_unmatched("item", ratings.unmatched_pairs);
    add_group("all", answers_.rows);
    for (const auto& subgroup : answers_.subgroups) {
      std::vector<Rating> some;
      std::ranges::copy_if(answers_.rows, std::back_inserter(some),
                           [&](const Rating& answer) { return answer.subgroup == subgroup; });
      add_group(people_.subgroups + ": " + subgroup, some);
    }
  }

  std::vector<Finding> take() {
    compare();
    std::vector<Finding> found = {figures(), means_of_people(), numbers_of_answers()};
    if (!by_template_.empty()) {
      found.push_back(templates());
    }
    if (people_.pilot) {
      found.push_back(selection());
      found.push_back(selected_templates());
    }
    return found;
  }

 private:
  void note_unmatched(const std::string& noun, const std::vector<std::string>& names) {
    if (!names.empty()) {
      notes_.push_back(base::counted(names.size(), "rated " + noun) + " not in the result: " + base::join(names, ", "));
    }
  }

  void add_group(const std::string& name, const std::vector<Rating>& answers) {
    std::set<std::string> annotators;
    std::ranges::for_each(answers, [&](const Rating& answer) { annotators.insert(answer.annotator); });
    groups_.push_back({name, answers_.table(answers, stream_of(People::Drawn::annotators, Stream::annotators)),
                       answers.size(), answers_.annotators.empty() ? 0 : annotators.size()});
  }

  std::optional<std::uint64_t> stream_of(People::Drawn kind, Stream stream) const {
    return base::contains(drawn_, kind) ? std::optional(start_of(stream)) : std::nullopt;
  }

  /// Scores of one measure.
  SampledCells rated_cells(std::size_t measure) const {
    const auto values = scores_.read(measure);
    const Cells all(scores_, values);
    SampledTable table{
        {SampledLines{scores_.length(template_axis), stream_of(People::Drawn::templates, Stream::templates)},
         SampledLines{scores_.length(rephrasing_axis), stream_of(People::Drawn::rephrasings, Stream::rephrasings)}},
        {}};
    for (std::size_t sentence = 0; sentence < all.num_sentences(); ++sentence) {
      for (const auto subject : answers_.subjects) {
        std::ranges::for_each(answers_.items,
                              [&](std::size_t item) { table.values.push_back(all.at(subject, sentence, item)); });
      }
    }
    return {answers_.subjects.size() * answers_.items.size(), {std::move(table)}};
  }

  void compare() {
    split_ = people_.pilot ? split_answers(scores_, answers_, *people_.pilot) : Split();
    for (const auto measure : measures_) {
      const auto cells = rated_cells(measure);
      std::ranges::for_each(groups_, [&](const AnswerGroup& group) { add_cells(cells, group.answers); });
      if (scores_.length(template_axis) > 1) {
        for (auto& scores : by_template(cells)) {
          by_template_.push_back(
              agreement_of({answers_.items.size(), std::move(scores), groups_.front().answers.means()}));
        }
      }
      if (people_.pilot) {
        selected_.push_back(select_templates(cells, answers_, split_, *people_.pilot));
      }
    }
  }

  void add_cells(const SampledCells& cells, const SampledCells& answers) {
    const auto lists = base::mapped(rows_, [&](const PeopleRow& row) { return row.cells(answers_.items.size()); });
    const auto scores = cells.means();
    const auto ratings = answers.means();
    std::vector<std::vector<double>> taus(lists.size());
    if (!drawn_.empty()) {
      taus = bootstrap_tau(cells, answers, lists, bootstrap_, scores_.ranks);
    }
    auto compared = base::joined(share<Cell>(scores_.ranks, rows_.size(), [&](std::size_t row) {
      const auto table = part_of(scores, ratings, lists[row], rows_[row].items.size());
      auto cell = cell_of(table, rows_[row]);
      add_interval(taus[row], drawn_degrees(cells, answers, lists[row]), cell);
      return std::vector{cell};
    }));
    std::map<PeopleRow::Kind, std::vector<Cell*>> kinds;
    for (std::size_t row = 0; row < compared.size(); ++row) {
      kinds[rows_[row].kind].push_back(&compared[row]);
    }
    for (const auto& [kind, of_kind] : kinds) {
      stats::adjust_rows(
          of_kind, [](const Cell* cell) { return cell->shuffled.cited(); }, &Cell::p_holm, stats::Adjustment::holm);
    }
    cells_.insert(cells_.end(), compared.begin(), compared.end());
  }

  Cell cell_of(const RatedTable& table, const PeopleRow& row) const {
    Cell cell;
    cell.agreement = agreement_of(table);
    if (row.kind == PeopleRow::Kind::subject) {
      cell.agreement.mean_tau = {};
    }
    if (cell.agreement.tau.defined()) {
      const auto dimensions = blocks_of(*scores_.axes[item_axis], "dimension", answers_.items, row.items);
      const auto domains = blocks_of(*scores_.axes[subject_axis], "domain", answers_.subjects, row.subjects);
      cell.shuffled = shuffled_p(table, dimensions, domains, shuffles_);
    }
    return cell;
  }

  void add_interval(std::span<const double> taus, double degrees, Cell& cell) const {
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

  results::AxisSchema group_axis() const {
    return {"people_group", "whose answers", base::mapped(groups_, &AnswerGroup::name), {}};
  }

  results::AxisSchema row_axis() const {
    const auto label_of = [](const PeopleRow& row) {
      return row.kind == PeopleRow::Kind::pooled ? row.name : row.kind_name() + ": " + row.name;
    };
    return {"people_row",
            "which cells: all, of one dimension of items, of one subject",
            base::mapped(rows_, label_of),
            {{"kind", "pooled, dimension or subject", base::mapped(rows_, &PeopleRow::kind_name)},
             {"name", "of the dimension or subject", base::mapped(rows_, &PeopleRow::name)}}};
  }

  /// p values of tau, and what they assume.
  void add_p(const RowColumns<Cell>& columns) const {
    const auto draws = base::with_thousands(shuffles_.draws) +
                       " seeded draws: 2 (b + 1) / (draws + 1), b: the fewer of those whose tau-b is at least, or at "
                       "most, this one";
    const auto add = [&](Role role, const std::string& name, const char* of, const std::string& what,
                         const auto&... path) {
      auto& column = columns(role, "tau_p_" + name, "1", what, path...);
      column.of = of;
      column.note = draws;
    };
    const auto add_shuffled = [&](const char* name, const std::string& moved, stats::Value ShuffledP::*which) {
      add(Role::p, name, "tau", "two-sided p of people_tau: " + moved, &Cell::shuffled, which, &stats::Value::value);
    };
    add(Role::p, "cite", "tau",
        "two-sided p of people_tau to cite: the larger one of items shuffled (within dimensions where there is such a "
        "p) and of subjects (within domains)",
        &Cell::shuffled, &ShuffledP::cited);
    add(Role::adjusted, "holm", "tau", "people_tau_p_cite adjusted among the rows of its kind (Holm)", &Cell::p_holm);
    add_shuffled("items", "items shuffled, the same way in every subject", &ShuffledP::items);
    add_shuffled("subjects", "subjects shuffled", &ShuffledP::subjects);
    add_shuffled("dimensions", "items shuffled within their dimensions, and whole dimensions of one size",
                 &ShuffledP::dimensions);
    add_shuffled("domains", "subjects shuffled within their domains, and whole domains of one size",
                 &ShuffledP::domains);
    add(Role::low, "smallest", "tau_p_cite", "no people_tau_p_cite can be smaller with so many items and subjects",
        &Cell::shuffled, &ShuffledP::smallest);
    columns(Role::p, "tau_p_cells", "1", "two-sided p of people_tau; assumes independent cells", &Cell::agreement,
            &Agreement::tau, &stats::Correlation::p)
        .note = "too small where the cells of an item, or of a subject, move together: prefer people_tau_p_cite";
  }

  void add_columns(Finding& finding) const {
    const RowColumns columns{finding, cells_};
    const auto add = [&](Role role, const char* name, const std::string& what, const auto&... path) -> Column& {
      return columns(role, name, "1", what, path...);
    };
    using stats::Correlation;
    using stats::Precision;
    using stats::Value;
    const auto agreement = &Cell::agreement;
    add(Role::value, "tau", "Kendall's tau-b of scores and people's means", agreement, &Agreement::tau,
        &Correlation::value);
    columns.interval(
        {.what =
             results::percent(comparison_.confidence) + " interval of the mean people_tau of other draws of as many",
         .unit = "1",
         .prefix = "tau_",
         .note = words_of(drawn_) + " drawn with replacement, " + base::with_thousands(bootstrap_.replicates) +
                 " replicates that vary as the means do; their percentiles, centred at people_tau"},
        &Cell::interval);
    add(Role::n, "n", "cells that are rated and scored", agreement, &Agreement::tau, &Correlation::n);
    add(Role::status, "status", "why people_tau does not exist", agreement, &Agreement::tau, &Correlation::reason);
    add(Role::status, "interval_status", "why the interval does not exist", &Cell::interval, &stats::Interval::reason)
        .of = "tau";
    add_p(columns);
    add(Role::value, "tau_bias", "mean of people_tau over the replicates, minus people_tau", &Cell::bias).note =
        "by so much the noise of means of so few annotators or templates lowers a tau-b of this size";
    add(Role::value, "tau_mean", "mean of the subjects' own tau-b; not the same as people_tau", agreement,
        &TableAgreement::mean_tau, &Value::value);
    const auto add_correlation = [&](const std::string& name, const std::string& what, Correlation Agreement::*which) {
      columns(Role::value, name, "1", what, agreement, which, &Correlation::value);
      columns(Role::p, name + "_p_cells", "1", "two-sided p of people_" + name + "; assumes independent cells",
              agreement, which, &Correlation::p)
          .of = name;
    };
    add_correlation("pearson", "Pearson's r", &Agreement::pearson);
    add_correlation("spearman", "Spearman's rho", &Agreement::spearman);
    const auto precision = &Agreement::precision;
    add(Role::value, "precision_at_3", "mean of people_precision_top_3 and people_precision_bottom_3", agreement,
        precision, &Precision::mean, &Value::value)
        .note = "equal scores: the earlier item first; a rating at the scale's middle counts for neither pole";
    add(Role::value, "precision_top_3", "share of the three highest scores rated above the middle; mean over subjects",
        agreement, precision, &Precision::top, &Value::value);
    add(Role::value, "precision_bottom_3",
        "share of the three lowest scores rated below the middle; mean over subjects", agreement, precision,
        &Precision::bottom, &Value::value);
    add(Role::value, "precision_at_3_chance", "people_precision_at_3 of scores in random order", agreement, precision,
        &Precision::chance, &Value::value);
  }

  /// Which question each number answers.
  std::string notes_of_figures() const {
    const auto drawn = words_of(drawn_);
    return (drawn.empty() ? std::string("No interval: there is nothing to draw.")
                          : "low, high: " + results::percent(comparison_.confidence) + " interval, " + drawn +
                                " drawn with replacement: the mean tau-b of other draws of as many.") +
           " p cite: two-sided, the larger of two: items shuffled (the same way in every subject; within their "
           "dimensions, where they have any) and subjects shuffled (within their domains), " +
           base::with_thousands(shuffles_.draws) +
           " draws each. p Holm: adjusted among the rows of one kind. P@3: mean over subjects; chance: P@3 of scores "
           "in random order.";
  }

  std::vector<std::string> warnings() const {
    constexpr double much = 0.05;  // of tau
    std::vector<std::string> warnings;
    std::vector<std::string> noisy;
    double smallest = 0;
    bool has_small_blocks = false;
    for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
      const auto& cell = cells_[measure * groups_.size() * rows_.size()];  // all annotators, all cells
      if (std::abs(cell.bias) > much * std::abs(cell.agreement.tau.value)) {
        noisy.push_back(measure_axis_.labels[measure]);
      }
      smallest = std::fmax(smallest, cell.shuffled.smallest);
      const auto lacks = [](const stats::Value& within, const stats::Value& free) {
        return free.defined() && !within.defined();
      };
      has_small_blocks = has_small_blocks || lacks(cell.shuffled.dimensions, cell.shuffled.items) ||
                         lacks(cell.shuffled.domains, cell.shuffled.subjects);
    }
    if (answers_.subjects.size() < few_subjects) {
      warnings.push_back(few_subjects_warning(measures_.size(), measures_.size()));
    }
    if (smallest > ShuffledP::level / 5) {
      warnings.push_back("With so few items or subjects no p of the pooled tau-b (people_tau_p_cite) is below " +
                         results::p_value(smallest) + ".");
    }
    if (has_small_blocks) {
      warnings.emplace_back(
          "Items have no dimensions, or subjects no domains, or too few to be shuffled: p cite then allows for items "
          "(subjects) that move together in all subjects (items), not for groups of them.");
    }
    if (!noisy.empty()) {
      warnings.push_back("Noise lowers tau-b by more than a twentieth (people_tau_bias) in " +
                         results::first_names(noisy, 3) +
                         ": endless annotators and templates would agree more than the interval says.");
    }
    return warnings;
  }

  Finding figures() const {
    Finding finding{.name = "people",
                    .axes = {measure_axis_, group_axis(), row_axis()},
                    .notes = notes_of_figures(),
                    .warnings = warnings()};
    add_columns(finding);
    finding.views = {
        {"Agreement with people: ",
         table_columns("cells: name, tau-b: tau, low: tau_low, high: tau_high, p cite: tau_p_cite, p Holm: "
                       "tau_p_holm, n, P@3: precision_at_3, chance: precision_at_3_chance"),
         "tau_p_cite",
         {"measure", "kind"}}};
    if (groups_.size() > 1) {
      finding.views.front().columns.insert(finding.views.front().columns.begin(), {"people_group", "people"});
    }
    std::vector<std::string> claims;
    for (const auto& measure : measure_axis_.labels) {
      for (const auto& group : groups_) {
        for (const auto& row : rows_) {
          const auto& tau = cells_[claims.size()].agreement.tau;
          claims.push_back(row.kind != PeopleRow::Kind::pooled
                               ? ""
                               : results::in_words(measure) + (tau.value < 0 ? " reverses" : " follows") +
                                     " the order of people's means" + (groups_.size() > 1 ? " of " + group.name : ""));
        }
      }
    }
    finding.question = {{.claims = std::move(claims),
                         .value = "tau",
                         .counted = "cell",
                         .name = "tau-b",
                         .least = "tau_p_smallest",
                         .nothing = "agreement"}};
    const auto& all = groups_.front();
    const auto who = all.num_annotators == 0 ? base::counted(all.num_answers, "mean")
                                             : base::counted(all.num_answers, "answer") + " of " +
                                                   base::counted(all.num_annotators, "annotator");
    finding.sentences.push_back({"", "Agreement with people, tau-b over " +
                                         base::counted(answers_.subjects.size(), "subject") + " x " +
                                         base::counted(answers_.items.size(), "item") + " (" + who + ")."});
    for (const auto& note : notes_) {
      finding.sentences.push_back({"", "Ratings: " + note + "."});
    }
    return finding;
  }

  /// What people said.
  Finding means_of_people() const {
    const auto num_items = scores_.length(item_axis);
    std::vector<double> means;  // of the whole score table; NaN: not rated
    for (const auto& group : groups_) {
      const auto first = means.size();
      means.resize(first + scores_.length(subject_axis) * num_items, stats::nan);
      for (std::size_t cell = 0; const auto mean : group.answers.means()) {
        const auto subject = answers_.subjects[cell / answers_.items.size()];
        means[first + subject * num_items + answers_.items[cell++ % answers_.items.size()]] = mean;
      }
    }
    Finding found{.name = "people_mean", .axes = {group_axis(), *scores_.axes[subject_axis], *scores_.axes[item_axis]}};
    found.add(Role::value, means, "", "1", "people's mean, 0: left pole, 100: right pole").note =
        source_of_ratings(people_.ratings);
    return found;
  }

  Finding numbers_of_answers() const {
    Finding found{.name = "people_num", .axes = {group_axis()}};
    found.add(Role::value, groups_, "annotators", "1", "annotators; 0: the table holds means",
              &AnswerGroup::num_annotators);
    found.add(Role::value, groups_, "answers", "1", "answers about subjects and items of the result",
              &AnswerGroup::num_answers);
    return found;
  }

  Finding templates() const {
    Finding finding{.name = "people_template", .axes = {measure_axis_, *scores_.axes[template_axis]}};
    add_judged(finding, by_template_, ", in the template alone");
    finding.views = {
        {"Agreement with people by template: ",
         table_columns("template: " + scores_.axes[template_axis]->name + ", tau-b: tau, n, P@3: precision_at_3"),
         "-tau"}};
    finding.notes =
        "Templates chosen by these figures agree less with other people: statistics.people.selection judges "
        "them on data that did not choose.";
    return finding;
  }

  Finding selection() const {
    Finding finding{.name = "people_selection",
                    .axes = {measure_axis_,
                             {"people_choice", "which templates", {"chosen", "all"}, {}},
                             {"people_part", "which answers", {"pilot", "held out"}, {}}}};
    std::vector<TableAgreement> judged;
    for (std::size_t measure = 0; measure < selected_.size(); ++measure) {
      const auto& [choice, of_choices] = selected_[measure];
      const auto of_measure = base::joined(of_choices);
      judged.insert(judged.end(), of_measure.begin(), of_measure.end());
      const auto& label = measure_axis_.labels[measure];
      const auto names =
          choice ? base::join(scores_.axes[template_axis]->part(choice->templates).labels, " + ") : "none has a tau-b";
      finding.sentences.push_back(
          {label, "Templates chosen on a pilot (" + split_.description + ") by " + label + ": " + names + "."});
    }
    add_judged(finding, judged, ", by the part of the answers");
    finding.views = {
        {"Templates chosen on a pilot: ",
         table_columns("templates: people_choice, answers: people_part, tau-b: tau, n, P@3: precision_at_3")}};
    finding.notes =
        "pilot: on the answers that chose the templates, so it flatters; held out: on those that share neither "
        "subjects nor annotators with the pilot, where it names both.";
    return finding;
  }

  Finding selected_templates() const {
    std::vector<std::int32_t> chosen;
    for (const auto& [choice, judged] : selected_) {
      for (std::size_t place = 0; place < scores_.length(template_axis); ++place) {
        chosen.push_back(choice && base::contains(choice->templates, place) ? 1 : 0);
      }
    }
    Finding finding{.name = "people_selected", .axes = {measure_axis_, *scores_.axes[template_axis]}};
    finding.add(Role::value, chosen, "", "1", "1: the pilot (" + split_.description + ") chose this template");
    return finding;
  }

  const Scores& scores_;
  const sweep::Comparison& comparison_;
  const People& people_;
  std::vector<std::size_t> measures_;  ///< places on the table's axis
  results::AxisSchema measure_axis_;   ///< of the chosen ones
  Answers answers_;
  std::vector<AnswerGroup> groups_;  ///< all, then each subgroup
  std::vector<PeopleRow> rows_;
  std::vector<std::string> notes_;    ///< what was notable in the table, and what did not match
  std::vector<People::Drawn> drawn_;  ///< by intervals, in this order
  BootstrapSettings bootstrap_;
  stats::ShuffleSettings shuffles_;
  Split split_;                              ///< where a pilot is named
  std::vector<Cell> cells_;                  ///< [measure, group, row]
  std::vector<TableAgreement> by_template_;  ///< [measure, template]; none where there is one template
  std::vector<SelectedTemplates> selected_;  ///< [measure]; none where no pilot is named
};

}  // namespace

std::vector<Finding> agree_with_people(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  return PeopleComparer(scores, comparison, seed).take();
}

}  // namespace stereosweep::findings
