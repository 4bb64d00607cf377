#include "probes/association/scores/Statistics.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "findings/agreement/Alignment.hpp"
#include "probes/association/scores/SharedSlabs.hpp"
#include "results/ScoreTable.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::association {
namespace {

using results::CubeSchema;
using results::ElementType;

const std::vector<std::string> coverage_names = {"all", "some", "none"};

/// [table, sentence, item] -> [sentence, table, item].
template <class T>
std::vector<T> sentences_first(std::span<const T> values, std::size_t num_tables, std::size_t num_sentences) {
  const auto items = values.size() / (num_tables * num_sentences);
  std::vector<T> result;
  result.reserve(values.size());
  for (std::size_t sentence = 0; sentence < num_sentences; ++sentence) {
    for (std::size_t table = 0; table < num_tables; ++table) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>((table * num_sentences + sentence) * items);
      result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(items));
    }
  }
  return result;
}

template <class T>
void write_sentences(hdf5::DataSet& dataset, const ScoreSlab& slab, std::span<const T> values) {
  const auto shape = dataset.shape();
  std::uint64_t done = 0;
  for (auto& part : hdf5::rectangles_of_range({shape[1], shape[2]}, slab.first_sentence, slab.num_sentences)) {
    const auto length = part.count[0] * part.count[1] * shape[3] * shape[4] * shape[5];
    const hdf5::Rectangle where{{slab.group, part.start[0], part.start[1], 0, 0, 0},
                                {1, part.count[0], part.count[1], shape[3], shape[4], shape[5]}};
    dataset.write(where, values.subspan(done, length));
    done += length;
  }
}

void write_covered(hdf5::DataSet& score, hdf5::DataSet& coverage, const ScoreSlab& slab,
                   const std::vector<CoveredScore>& scores, std::size_t num_tables) {
  std::vector<double> values;
  std::vector<std::uint8_t> flags;
  for (const auto& item : sentences_first(std::span(scores), num_tables, slab.num_sentences)) {
    values.push_back(item.value);
    flags.push_back(static_cast<std::uint8_t>(item.coverage));
  }
  write_sentences(score, slab, std::span<const double>(values));
  write_sentences(coverage, slab, std::span<const std::uint8_t>(flags));
}

/// "a+b" as its two parts. A name may hold a plus itself, so the parts that are `known` decide; else the first plus.
std::pair<std::string, std::string> parts_of(const std::string& joined, const std::vector<std::string>& known) {
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  for (auto plus = joined.find('+'); plus != std::string::npos; plus = joined.find('+', plus + 1)) {
    if (is_known(joined.substr(0, plus)) && is_known(joined.substr(plus + 1))) {
      return {joined.substr(0, plus), joined.substr(plus + 1)};
    }
  }
  const auto plus = joined.find('+');
  return plus == std::string::npos ? std::pair(joined, std::string())
                                   : std::pair(joined.substr(0, plus), joined.substr(plus + 1));
}

/// Groups and intersections, with what they are made of.
results::AxisSchema subject_axis(const results::AxisSchema& groups) {
  const auto& kinds = coordinate_of(groups, "kind");
  const auto& domains = coordinate_of(groups, "domain");
  const auto& components = coordinate_of(groups, "components");
  results::AxisSchema::Coordinate domain{"domain", "domain of the group; of an intersection's groups, joined by x", {}};
  results::AxisSchema::Coordinate first{"first", "label of the group; of an intersection's first group", {}};
  results::AxisSchema::Coordinate second{"second", "label of an intersection's second group; empty: a group", {}};
  for (std::size_t index = 0; index < groups.labels.size(); ++index) {
    const bool is_pair = kinds[index] == "intersection";
    const auto both = is_pair ? parts_of(domains[index], domains) : std::pair(domains[index], std::string());
    const auto parts =
        is_pair ? parts_of(components[index], groups.labels) : std::pair(components[index], std::string());
    domain.values.push_back(both.second.empty() ? both.first : both.first + " x " + both.second);
    first.values.push_back(parts.first);
    second.values.push_back(parts.second);
  }
  return {"subject",
          "group or intersection",
          groups.labels,
          {{"kind", "group or intersection", kinds}, std::move(domain), std::move(first), std::move(second)}};
}

results::AxisSchema measure_axis(const ScoreReader& reader) {
  std::vector<std::pair<stats::Measure, std::string>> variants;
  for (const auto measure : reader.measures()) {
    for (const auto& prior : reader.priors()) {
      variants.emplace_back(measure, prior);
    }
  }
  const auto name_of = [](const auto& variant) { return std::string(stats::name_of(variant.first)); };
  return axis_of("measure", "variant of the score and its prior", variants,
                 [&](const auto& variant) { return name_of(variant) + " " + variant.second; },
                 {{"units", "unit of the score", [](const auto&) { return "nat"; }},
                  {"description", "definition",
                   [](const auto& variant) { return std::string(stats::description_of(variant.first)); }},
                  {"variant", "variant of the score", name_of},
                  {"prior", "what stands in the group's place where the score is zero",
                   [](const auto& variant) { return variant.second; }}});
}

results::ScoreTableAxes table_axes(const results::RawSchema& schema, const ScoreReader& reader,
                                   const TraitPairs& traits) {
  auto items = traits.pair_axis();
  items.name = "item";
  return {measure_axis(reader),    subject_axis(results::group_axis(schema)), schema.outer_axes.at(1),
          schema.outer_axes.at(2), results::ScoreTable::no_axis(4),           std::move(items)};
}

/// Status of a pair's score in the table of scores, from the statuses of its words.
class PairStatus {
 public:
  /// `traits` is borrowed. `cell_status_names`: of the file's status cube.
  PairStatus(const TraitPairs& traits, const std::vector<std::string>& cell_status_names)
      : traits_(traits),
        not_scored_(static_cast<std::size_t>(std::ranges::find(cell_status_names, results::not_scored) -
                                             cell_status_names.begin())) {}

  /// ok, partial; without a score the first that fits of unscored (the run did not come to a pole's words), missing (no
  /// raw number of a pole's words) and undefined. `words`, `cells`: [word] of the group in the sentence.
  results::ScoreStatus of(std::size_t pair, Coverage coverage, std::span<const stats::ScoreStatus> words,
                          std::span<const std::uint8_t> cells) const {
    if (coverage != Coverage::none) {
      return coverage == Coverage::all ? results::ScoreStatus::ok : results::ScoreStatus::partial;
    }
    auto result = results::ScoreStatus::undefined;
    for (const auto pole : {traits_.pairs()[pair].left, traits_.pairs()[pair].right}) {
      const auto& of_pole = traits_.poles()[pole].words;
      const auto all = [&](auto condition) { return std::all_of(of_pole.begin(), of_pole.end(), condition); };
      if (all([&](auto word) { return cells[word] == not_scored_; })) {
        return results::ScoreStatus::unscored;
      }
      if (all([&](auto word) {
            return words[word] == stats::ScoreStatus::group_not_scored ||
                   words[word] == stats::ScoreStatus::prior_not_scored;
          })) {
        result = results::ScoreStatus::missing;
      }
    }
    return result;
  }

 private:
  const TraitPairs& traits_;
  std::size_t not_scored_;
};

/// The file that `stats` writes; same conventions as an exported result.
class AssociationFile {
 public:
  /// All arguments but `target` are borrowed.
  AssociationFile(const results::ResultFile& source, const StatisticsOptions& options, const TraitPairs& traits,
                  const ScoreReader& reader, const results::StatisticsTarget& target)
      : file_(source, "association", target), pair_status_(traits, reader.cell_status_names()), reader_(reader) {
    auto& root = file_.root();
    const bool is_median = options.word_aggregate == Statistics::Aggregate::median;
    root.write_attribute("word_aggregate", is_median ? "median" : "mean");
    root.write_attribute("templates_averaged",
                         options.templates.empty() ? std::string("all") : base::join(options.templates, "; "));
    root.write_attribute("human_ratings", options.ratings ? options.ratings_source : std::string("none"));
    add_axes(source, traits);
    const auto add = [&](const CubeSchema& cube, const std::string& last) {
      return file_.layout().add_cube(cube, {"group", "template", "rephrasing", "variant", "prior", last});
    };
    arrays_ = std::make_unique<Arrays>(Arrays{
        add(results::number_cube("word_score", "nat", "association of group and word", "by variant and prior"), "word"),
        add(results::flag_cube("word_score_status", "why a word score does not exist",
                               {stats::score_status_names.begin(), stats::score_status_names.end()}),
            "word"),
        add(results::number_cube("pole_score", "nat", "association of group and pole",
                                 "word_aggregate (root attribute) of the pole's defined words"),
            "pole"),
        add(results::flag_cube("pole_coverage", "how many of the pole's words have a score", coverage_names), "pole"),
        add(results::number_cube("pair_score", "nat", "right pole minus left pole"), "pair"),
        add(results::flag_cube("pair_coverage", "how many of the two poles' words have a score", coverage_names),
            "pair"),
        results::ScoreTableWriter(file_.layout(), table_axes(source.schema(), reader, traits)),
    });
  }

  /// Slabs in canonical order.
  void add(const ScoreSlab& slab, const SlabScores& scores) {
    const auto tables = reader_.measures().size() * reader_.priors().size();
    const auto values = sentences_first(std::span(slab.values), tables, slab.num_sentences);
    write_sentences(arrays_->word_score, slab, std::span(values));
    const std::span statuses(reinterpret_cast<const std::uint8_t*>(slab.statuses.data()), slab.statuses.size());
    const auto flags = sentences_first(statuses, tables, slab.num_sentences);
    write_sentences(arrays_->word_status, slab, std::span(flags));
    write_covered(arrays_->pole_score, arrays_->pole_coverage, slab, scores.poles, tables);
    write_covered(arrays_->pair_score, arrays_->pair_coverage, slab, scores.pairs, tables);
    add_to_table(slab, scores);
  }

  /// Writes averages and agreement, then makes the file appear under its name.
  void finish(const StatisticsResult& result) {
    findings::write_pair_agreement(file_.layout(), result, "nat");
    arrays_->table.flush();
    arrays_.reset();
    file_.commit();
  }

 private:
  struct Arrays {
    hdf5::DataSet word_score;
    hdf5::DataSet word_status;
    hdf5::DataSet pole_score;
    hdf5::DataSet pole_coverage;
    hdf5::DataSet pair_score;
    hdf5::DataSet pair_coverage;
    results::ScoreTableWriter table;
  };

  void add_axes(const results::ResultFile& source, const TraitPairs& traits) {
    const auto& schema = source.schema();
    auto& layout = file_.layout();
    layout.add_axis(axis_of(
        "variant", "variant of the score", reader_.measures(),
        [](auto measure) { return std::string(stats::name_of(measure)); },
        {{"description", "definition", [](auto measure) { return std::string(stats::description_of(measure)); }}}));
    layout.add_axis(results::prior_axis(schema));
    layout.add_axis(results::group_axis(schema));
    layout.add_axis(schema.outer_axes.at(1));
    layout.add_axis(schema.outer_axes.at(2));
    layout.add_axis(schema.inner_axis("word"));
    layout.add_axis(traits.pole_axis());
    layout.add_axis(traits.pair_axis());
  }

  void add_to_table(const ScoreSlab& slab, const SlabScores& scores) {
    const auto num_words = reader_.num_words();
    const auto num_pairs = file_.layout().length("pair");
    const auto num_rows = slab.statuses.size() / num_words;
    results::ScoreTableWriter::Part part{slab.group, slab.first_sentence, slab.num_sentences, {}, {}};
    part.values.reserve(scores.pairs.size());
    part.statuses.reserve(scores.pairs.size());
    for (std::size_t row = 0; row < num_rows; ++row) {
      const auto words = std::span(slab.statuses).subspan(row * num_words, num_words);
      const auto cells = std::span(slab.cell_statuses).subspan(row % slab.num_sentences * num_words, num_words);
      for (std::size_t pair = 0; pair < num_pairs; ++pair) {
        const auto& score = scores.pairs[row * num_pairs + pair];
        part.values.push_back(score.value);
        part.statuses.push_back(pair_status_.of(pair, score.coverage, words, cells));
      }
    }
    arrays_->table.add(part);
  }

  results::StatisticsFile file_;
  std::unique_ptr<Arrays> arrays_;
  PairStatus pair_status_;
  const ScoreReader& reader_;
};

findings::ScoreAxes axes_of(const results::ResultFile& file, const ScoreReader& reader, const TraitPairs& traits,
                            const std::vector<std::string>& templates) {
  const auto& schema = file.schema();
  findings::ScoreAxes axes;
  for (const auto measure : reader.measures()) {
    axes.measures.emplace_back(stats::name_of(measure));
  }
  axes.priors = reader.priors();
  const auto& subjects = schema.outer_axes.at(0).labels;
  axes.groups.assign(subjects.begin() + static_cast<std::ptrdiff_t>(schema.num_priors), subjects.end());
  axes.templates = schema.outer_axes.at(1).labels;
  axes.rephrasings = schema.outer_axes.at(2).labels;
  axes.words = schema.inner_axis("word").labels;
  for (const auto& pair : traits.pairs()) {
    axes.pairs.push_back(pair.label);
  }
  for (const auto& label : templates) {
    const auto found = std::find(axes.templates.begin(), axes.templates.end(), label);
    if (found == axes.templates.end()) {
      throw base::InputError(base::describe("unknown template '" + label + "' in statistics.templates",
                                            "the result has no such template",
                                            base::did_you_mean(label, axes.templates)));
    }
    axes.selected_templates.push_back(static_cast<std::size_t>(found - axes.templates.begin()));
  }
  if (templates.empty()) {
    axes.selected_templates.resize(axes.templates.size());
    std::iota(axes.selected_templates.begin(), axes.selected_templates.end(), 0);
  }
  return axes;
}

/// Goes through the file once, where `world` has other ranks through what they read of it; `writer` may be null.
StatisticsResult stream(const StatisticsOptions& options, AssociationFile* writer, const TraitPairs& traits,
                        const ScoreReader& reader, findings::ScoreAxes axes, const parallel::Communicator& world) {
  StatisticsResult result;
  result.shuffles = options.shuffles;
  result.cell_status_names = reader.cell_status_names();
  result.pairs = traits.pairs();
  for (const auto& pole : traits.poles()) {
    result.pole_names.push_back(pole.label);
  }
  if (options.ratings) {
    result.ratings = findings::match_ratings(*options.ratings, axes);
  }
  PairScoreSum sum(std::move(axes), result.ratings ? result.ratings->rated_groups : std::vector<std::size_t>{},
                   result.cell_status_names.size());
  const auto use = [&](const ScoreSlab& slab, const SlabScores& scores) {
    sum.add(slab, scores);
    if (writer != nullptr) {
      writer->add(slab, scores);
    }
  };
  if (world.size() > 1) {
    receive_slabs(world, reader.num_slabs(), use);
  } else {
    reader.for_each([&](const ScoreSlab& slab) {
      use(slab, fold_traits(slab, reader.num_words(), traits, options.word_aggregate));
    });
  }
  result.scores = sum.take();
  if (result.ratings) {
    result.alignments = findings::align_all(result.scores, *result.ratings, options.shuffles);
  }
  return result;
}

}  // namespace

StatisticsResult compute_statistics(const results::ResultFile& file, const StatisticsOptions& options) {
  const ScoreReader reader(file);
  const TraitPairs traits(file.schema().inner_axis("word"));
  return stream(options, nullptr, traits, reader, axes_of(file, reader, traits, options.templates), {});
}

StatisticsResult write_statistics(const results::ResultFile& file, const StatisticsOptions& options,
                                  const results::StatisticsTarget& target, const parallel::Communicator& world) {
  const ScoreReader reader(file);
  const TraitPairs traits(file.schema().inner_axis("word"));
  auto axes = axes_of(file, reader, traits, options.templates);
  AssociationFile writer(file, options, traits, reader, target);
  auto result = stream(options, &writer, traits, reader, std::move(axes), world);
  writer.finish(result);
  return result;
}

void assist_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                       const parallel::Communicator& world) {
  const ScoreReader reader(file);
  const TraitPairs traits(file.schema().inner_axis("word"));
  send_slabs(world, reader, traits, word_aggregate);
}

std::string status_text(const StatisticsResult& result, const results::ShownMeasures& shown) {
  results::TextTable cells({"status of a cell", "cells"});
  for (std::size_t status = 0; status < result.cell_status_names.size(); ++status) {
    if (const auto count = result.scores.cells_by_status[status]; count > 0) {
      cells.add({result.cell_status_names[status], base::with_thousands(count)});
    }
  }
  results::TextTable undefined({"scores that do not exist", "reason", "number"});
  std::size_t num_reasons = 0;
  for (std::size_t measure = 0; measure < result.scores.axes.measures.size(); ++measure) {
    for (std::size_t prior = 0; prior < result.scores.axes.priors.size(); ++prior) {
      if (!shown.holds(result.scores.axes.measure_label(measure, prior))) {
        continue;
      }
      const auto& counts = result.scores.scores_by_status[result.scores.table_index(measure, prior)];
      for (std::size_t reason = 1; reason < counts.size(); ++reason) {
        if (counts[reason] > 0) {
          undefined.add({result.scores.table_name(measure, prior), std::string(stats::score_status_names[reason]),
                         base::with_thousands(counts[reason])});
          ++num_reasons;
        }
      }
    }
  }
  return cells.text() + "\n" +
         (num_reasons > 0 ? undefined.text() : std::string("Every score of the measures above exists.\n"));
}

std::string top_associations_text(const StatisticsResult& result, std::size_t count,
                                  const results::ShownMeasures& shown) {
  const auto& axes = result.scores.axes;
  const auto text = results::wrapped(
      "Strongest associations: mean over sentences of right minus left pole, nat (prior: " + axes.priors.front() +
      ")\n\n");
  results::TextTable table({"measure", "group", "leans to", "rather than", "score"});
  for (std::size_t measure = 0; measure < axes.measures.size(); ++measure) {
    if (!shown.holds(axes.measure_label(measure, 0))) {
      continue;
    }
    const auto first = result.scores.overall_index(measure, 0, 0, 0);
    const auto score = [&](std::size_t cell) { return result.scores.overall[first + cell].value(); };
    std::vector<std::size_t> order;
    for (std::size_t cell = 0; cell < axes.groups.size() * axes.pairs.size(); ++cell) {
      if (result.scores.overall[first + cell].count > 0) {
        order.push_back(cell);
      }
    }
    const auto num_shown = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(num_shown), order.end(),
                      [&](auto a, auto b) {
                        const auto left = std::abs(score(a));
                        const auto right = std::abs(score(b));
                        return left != right ? left > right : a < b;
                      });
    for (std::size_t rank = 0; rank < num_shown; ++rank) {
      const auto& pair = result.pairs[order[rank] % axes.pairs.size()];
      const auto value = score(order[rank]);
      table.add({rank == 0 ? axes.measures[measure] : "", axes.groups[order[rank] / axes.pairs.size()],
                 result.pole_names[value > 0 ? pair.right : pair.left],
                 result.pole_names[value > 0 ? pair.left : pair.right], results::fixed(value)});
    }
  }
  return text + table.text();
}

}  // namespace stereosweep::probes::association
