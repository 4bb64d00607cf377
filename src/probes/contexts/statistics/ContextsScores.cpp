#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "probes/contexts/effects/ContextsSchema.hpp"
#include "probes/contexts/statistics/ContextsFile.hpp"
#include "probes/contexts/statistics/ContextsNumbers.hpp"
#include "results/ScoreTable.hpp"
#include "stats/Undefined.hpp"
#include "stats/embedding/EffectSize.hpp"

namespace stereosweep::probes::contexts {
namespace {

using results::AxisSchema;
using results::ScoreStatus;
using Kind = EmbeddingTest::Kind;

constexpr std::size_t most_numbers = std::size_t{16} << 20U;  ///< in memory at a time

enum class Measure : std::uint8_t { effect_size, association, deviation };
constexpr std::size_t num_measures = 3;

/// One value of the axis subject.
struct Row {
  std::string label;
  std::string kind;
  std::string name;  ///< of the group or intersection
  std::string domain;
  std::string first;
  std::string second;
};

AxisSchema measure_axis() {
  return {
      results::score_axis_names[0],
      "what is measured",
      {"effect_size", "association", "deviation"},
      {{"units", "unit of the score", {"1", "1", "1"}},
       {"description",
        "definition",
        {"association / deviation: the effect size of the sample",
         "WEAT: mean association of X minus that of Y; WEFAT: mean cosine of the word with A minus that with B",
         "standard deviation (ddof 1). WEAT: of the associations in X and Y; WEFAT: of the cosines with A and B"}}}};
}

template <class Read>
std::vector<std::string> labels_of(const std::vector<Row>& rows, Read read) {
  std::vector<std::string> values;
  std::ranges::transform(rows, std::back_inserter(values), read);
  return values;
}

AxisSchema subject_axis(const std::vector<Row>& rows) {
  return {results::score_axis_names[1],
          "pair of target sets (WEAT) or target word (WEFAT)",
          labels_of(rows, &Row::label),
          {{"kind", "word sets, word, group or intersection", labels_of(rows, &Row::kind)},
           {"name", "label of the group or intersection", labels_of(rows, &Row::name)},
           {"domain", "domain of the group, or of both groups", labels_of(rows, &Row::domain)},
           {"first", "first group; of word sets: X", labels_of(rows, &Row::first)},
           {"second", "second group; of word sets: Y", labels_of(rows, &Row::second)}}};
}

AxisSchema sample_axis(std::size_t samples) {
  AxisSchema axis{results::score_axis_names[4], "sample: a draw of one context per word", {}, {}};
  for (std::size_t sample = 0; sample < samples; ++sample) {
    axis.labels.push_back(std::to_string(sample));
  }
  return axis;
}

AxisSchema item_axis(const std::vector<ContextsTest>& tests) {
  AxisSchema axis{results::score_axis_names[5], "association test; more is nearer to right", {}, {}};
  axis.coordinates = {{"dimension", "title of the test", {}},
                      {"left", "attribute set B", {}},
                      {"right", "attribute set A", {}},
                      {"kind", "weat: two sets of targets; wefat: one", {}}};
  for (const auto& test : tests) {
    axis.labels.push_back(test.label);
    axis.coordinates[0].values.push_back(test.title);
    axis.coordinates[1].values.push_back(test.sets[3]);
    axis.coordinates[2].values.push_back(test.sets[2]);
    axis.coordinates[3].values.emplace_back(test.kind == Kind::weat ? "weat" : "wefat");
  }
  return axis;
}

/// The subjects of all tests, and which of them a test has.
class Subjects {
 public:
  Subjects(const std::vector<ContextsTest>& tests, const Contexts* job) {
    for (const auto& test : tests) {
      auto& of_test = of_tests_.emplace_back();
      if (test.kind == Kind::weat) {
        of_test.push_back(add({test.sets[0] + " - " + test.sets[1], "word sets", "", "", test.sets[0], test.sets[1]}));
        without_vector_.emplace_back();
        continue;
      }
      for (const auto& word : test.words[0]) {
        of_test.push_back(add(row_of(word, job)));
      }
      without_vector_.push_back(find_missing(test, job));
    }
  }
  const std::vector<Row>& rows() const { return rows_; }
  /// Of a weat test its pair of sets, of a wefat test its target words.
  const std::vector<std::size_t>& of_test(std::size_t test) const { return of_tests_[test]; }
  const std::vector<std::size_t>& without_vector(std::size_t test) const { return without_vector_[test]; }

 private:
  static Row row_of(const std::string& word, const Contexts* job) {
    if (job != nullptr) {
      if (const auto known = std::ranges::find(job->subjects, word, &TargetSubject::word);
          known != job->subjects.end()) {
        return {word,         known->second.empty() ? "group" : "intersection",
                known->label, known->domain,
                known->first, known->second};
      }
    }
    return {word, "word", "", "", "", ""};
  }

  std::vector<std::size_t> find_missing(const ContextsTest& test, const Contexts* job) {
    std::vector<std::size_t> missing;
    if (job == nullptr) {
      return missing;
    }
    const auto asked = std::ranges::find(job->tests, test.label, &EmbeddingTest::label);
    for (std::size_t i = 0; asked != job->tests.end() && i < asked->x.words.size(); ++i) {
      if (std::ranges::find(test.words[0], asked->x.words[i]) == test.words[0].end()) {
        missing.push_back(add(row_of(asked->x.words[i], job)));
      }
    }
    return missing;
  }

  /// Word sets of one name are one subject, whatever the test.
  std::size_t add(Row row) {
    const auto [place, is_new] =
        places_.try_emplace(row.kind == "word sets" ? "sets " + row.label : row.label, rows_.size());
    if (is_new) {
      rows_.push_back(std::move(row));
    }
    return place->second;
  }

  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::vector<std::size_t>> of_tests_;
  std::vector<std::vector<std::size_t>> without_vector_;
};

/// Scores of some samples of all tests.
class Part {
 public:
  Part(const results::ScoreTableAxes& axes, std::size_t samples) {
    table_.axes = axes;
    table_.axes[4].labels.resize(samples);
    table_.resize();
    std::ranges::fill(table_.statuses, ScoreStatus::not_applicable);
  }
  const results::ScoreTable& table() const { return table_; }

  void set(Measure measure, std::size_t subject, std::size_t sample, std::size_t item, double value) {
    const bool exists = std::isfinite(value);
    const auto place = table_.index({static_cast<std::size_t>(measure), subject, 0, 0, sample, item});
    table_.values[place] = exists ? value : stats::nan;
    table_.statuses[place] = exists ? ScoreStatus::ok : ScoreStatus::undefined;
  }
  void set_missing(std::size_t subject, std::size_t sample, std::size_t item, ScoreStatus why) {
    for (std::size_t measure = 0; measure < num_measures; ++measure) {
      table_.statuses[table_.index({measure, subject, 0, 0, sample, item})] = why;
    }
  }

 private:
  results::ScoreTable table_;
};

double average(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

/// Fills one test's place in a part.
class TestScores {
 public:
  TestScores(const ContextsTest& test, std::size_t item, const ContextsSamples& samples, Part& part)
      : test_(test), item_(item), samples_(samples), part_(part) {}

  void add_sets(std::size_t subject, std::size_t sample) {
    const auto targets = std::span(samples_.association).subspan(sample * test_.num_targets(), test_.num_targets());
    const auto num_x = test_.words[0].size();
    const double variance = samples_.association_variance[sample];
    part_.set(Measure::effect_size, subject, sample, item_, samples_.effect_size[sample]);
    part_.set(Measure::association, subject, sample, item_,
              average(targets.first(num_x)) - average(targets.subspan(num_x)));
    part_.set(Measure::deviation, subject, sample, item_, std::sqrt(variance));
  }

  void add_word(std::size_t subject, std::size_t sample, std::size_t target) {
    const auto cell = sample * test_.num_targets() + target;
    const double association = samples_.association[cell];
    const double deviation = samples_.deviation[cell];
    part_.set(Measure::effect_size, subject, sample, item_,
              deviation > stats::cosine_rounding ? association / deviation : stats::nan);
    part_.set(Measure::association, subject, sample, item_, association);
    part_.set(Measure::deviation, subject, sample, item_, deviation);
  }

 private:
  const ContextsTest& test_;
  std::size_t item_;
  const ContextsSamples& samples_;
  Part& part_;
};

void fill(Part& part, const ContextsReader& reader, const Subjects& subjects, std::size_t item,
          const ContextsSamples& samples) {
  const auto& test = reader.tests()[item];
  TestScores scores(test, item, samples, part);
  const auto& rows = subjects.of_test(item);
  for (std::size_t sample = 0; sample < samples.status.size(); ++sample) {
    const auto status = samples.status[sample];
    const bool is_missing = status == static_cast<std::uint8_t>(EffectStatus::missing_words);
    const bool is_scored = reader.status_names().at(status) != results::not_scored;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_missing || !is_scored) {
        part.set_missing(rows[i], sample, item, is_missing ? ScoreStatus::missing : ScoreStatus::unscored);
      } else if (test.kind == Kind::weat) {
        scores.add_sets(rows[i], sample);
      } else {
        scores.add_word(rows[i], sample, i);
      }
    }
    for (const auto subject : subjects.without_vector(item)) {
      part.set_missing(subject, sample, item, ScoreStatus::missing);
    }
  }
}

}  // namespace

void write_contexts_scores(results::Layout& layout, const ContextsReader& reader, const Contexts* job) {
  const auto& tests = reader.tests();
  const Subjects subjects(tests, job);
  if (subjects.rows().empty()) {
    return;
  }
  const results::ScoreTableAxes axes = {measure_axis(),
                                        subject_axis(subjects.rows()),
                                        results::ScoreTable::no_axis(2),
                                        results::ScoreTable::no_axis(3),
                                        sample_axis(reader.num_samples()),
                                        item_axis(tests)};
  results::ScoreTableWriter writer(layout, axes);
  const auto per_sample = num_measures * subjects.rows().size() * tests.size() + reader.numbers_per_sample();
  const auto at_a_time = std::clamp<std::size_t>(most_numbers / per_sample, 1, reader.num_samples());
  for (std::size_t first = 0; first < reader.num_samples(); first += at_a_time) {
    const auto count = std::min(at_a_time, reader.num_samples() - first);
    Part part(axes, count);
    for (std::size_t item = 0; item < tests.size(); ++item) {
      fill(part, reader, subjects, item, reader.read(item, first, count));
    }
    const auto& table = part.table();
    writer.write({{0, 0, 0, 0, first, 0}, {num_measures, subjects.rows().size(), 1, 1, count, tests.size()}},
                 table.values, table.statuses);
  }
}

}  // namespace stereosweep::probes::contexts
