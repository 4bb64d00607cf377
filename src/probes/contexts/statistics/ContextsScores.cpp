// The tests and samples of a result, and the score table of contexts.stats.h5.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/Probe.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "results/ScoreTable.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/EffectSize.hpp"

namespace stereosweep::probes::contexts {
namespace {

using results::AxisSchema;
using results::ScoreStatus;
constexpr std::size_t most_numbers = std::size_t{16} << 20U;  ///< in memory at a time

constexpr std::size_t num_measures = 3;
using Scores = std::array<double, num_measures>;  ///< effect_size, association, deviation; NaN where there is none

/// One value of the axis subject: label, then the coordinates kind, name, domain, first, second and further parts.
using SubjectRow = std::vector<std::string>;

void refuse_if(bool is_wrong, const results::ResultFile& file, const std::string& why) {
  base::refuse_if(is_wrong, "cannot compute statistics of '" + file.path().string() + "'", why);
}

/// Effect sizes end where no sample of any of the tests can pass, associations where cosines do.
AxisSchema measure_axis(const std::vector<EmbeddingTest>& tests) {
  double effect = 0;
  double association = 0;
  for (const auto& test : tests) {
    const auto [first, second] = test.compared();
    if (!first->words.empty() && !second->words.empty()) {
      effect = std::max(effect, stats::largest_effect_size(first->words.size(), second->words.size()));
      association = std::max(association, test.is_weat() ? 4. : 2.);
    }
  }
  return probes::measure_axis(
      "what is measured",
      {{"effect_size", "1", "association / deviation: the effect size of the sample", base::format_double(-effect),
        base::format_double(effect)},
       {"association", "1",
        "WEAT: mean association of X minus that of Y; WEFAT: mean cosine of the word with A minus that with B",
        base::format_double(-association), base::format_double(association)},
       {"deviation", "1",
        "standard deviation (ddof 1). WEAT: of the associations in X and Y; WEFAT: of the cosines with A and B"}});
}

AxisSchema subject_axis(const std::vector<SubjectRow>& rows) {
  const auto part = [](std::size_t place) { return [place](const SubjectRow& row) { return row[place]; }; };
  auto axis = axis_of(results::score_axis_names[1], "pair of target sets (WEAT) or target word (WEFAT)", rows, part(0),
                      {{"kind", "word sets, word, group or intersection", part(1)},
                       {"name", "label of the group or intersection", part(2)},
                       {"domain", "domain of the group, or of all groups", part(3)},
                       {"first", "first group; of word sets: X", part(4)},
                       {"second", "second group; of word sets: Y", part(5)}});
  add_further_parts(axis,
                    base::mapped(rows, [](const SubjectRow& row) { return SubjectRow(row.begin() + 4, row.end()); }));
  return axis;
}

AxisSchema item_axis(const std::vector<EmbeddingTest>& tests) {
  return axis_of(
      results::score_axis_names[5], "association test; more is nearer to right", tests, &EmbeddingTest::label,
      {{"dimension", "title of the test", &EmbeddingTest::title},
       {"left", "attribute set B", [](const auto& test) { return test.b.label; }},
       {"right", "attribute set A", [](const auto& test) { return test.a.label; }},
       {"kind", "weat: two sets of targets; wefat: one", [](const auto& test) { return name_of(test.kind); }}});
}

SubjectRow row_of(const std::string& word, const Contexts& job) {
  const auto known = std::ranges::find(job.subjects, word, &TargetSubject::word);
  if (known == job.subjects.end()) {
    return {word, "word", "", "", "", ""};
  }
  const auto* kind = known->second.empty() ? "group" : "intersection";
  SubjectRow row = {word, kind, known->label, known->domain, known->first, known->second};
  row.insert(row.end(), known->further.begin(), known->further.end());
  return row;
}

/// The subjects of all tests, and which of them a test has.
struct Subjects {
  /// Of a weat test its pair of sets, of a wefat test its target words.
  struct OfTest {
    std::size_t row = 0;
    std::optional<std::size_t> target = 0;  ///< place among the words that take part; nothing: it has no vector
  };
  std::vector<SubjectRow> rows;
  std::vector<std::vector<OfTest>> of_tests;
};

Subjects subjects_of(const std::vector<EmbeddingTest>& tests, const Contexts& job) {
  Subjects subjects;
  std::map<std::pair<std::string, bool>, std::size_t> places;  // by label, and whether it names word sets
  const auto add = [&](SubjectRow row) {                       // word sets of one name are one, whatever the test
    const auto [place, is_new] = places.try_emplace({row[0], row[1] == "word sets"}, subjects.rows.size());
    if (is_new) {
      subjects.rows.push_back(std::move(row));
    }
    return place->second;
  };
  for (const auto& test : tests) {
    auto& of_test = subjects.of_tests.emplace_back();
    if (test.is_weat()) {
      const auto& [x, y] = std::tie(test.x.label, test.y.label);
      of_test.push_back({add({x + " - " + y, "word sets", "", "", x, y})});
      continue;
    }
    const auto& words = test.x.words;
    for (std::size_t target = 0; target < words.size(); ++target) {
      of_test.push_back({add(row_of(words[target], job)), target});
    }
    const auto asked = std::ranges::find(job.tests, test.label, &EmbeddingTest::label);
    for (const auto& word : asked == job.tests.end() ? std::vector<std::string>() : asked->x.words) {
      if (!base::contains(words, word)) {
        of_test.push_back({add(row_of(word, job)), std::nullopt});
      }
    }
  }
  return subjects;
}

/// Scores of a pair of target sets.
Scores scores_of_sets(const EmbeddingTest& test, const ContextsSamples& samples, std::size_t sample) {
  std::array<std::vector<double>, 2> associations;
  for (std::size_t target = 0; target < test.num_targets(); ++target) {
    associations[target < test.x.words.size() ? 0 : 1].push_back(samples.association(sample, target));
  }
  return {samples.effect_size(sample), stats::mean(associations[0]).value - stats::mean(associations[1]).value,
          std::sqrt(samples.association_variance(sample))};
}

Scores scores_of_word(const ContextsSamples& samples, std::size_t sample, std::size_t target) {
  const double association = samples.association(sample, target);
  const double deviation = samples.deviation(sample, target);
  return {deviation > stats::cosine_rounding ? association / deviation : stats::nan, association, deviation};
}

/// Some samples of one test, from `first_sample` on; the table's replicates begin with that sample's.
void fill(results::ScoreTable& table, const ContextsReader& reader, const Subjects& subjects, std::size_t item,
          const ContextsSamples& samples, std::size_t first_sample) {
  const auto& test = reader.tests[item];
  const auto set = [&](std::size_t subject, std::size_t sample, const Scores& scores, ScoreStatus missing) {
    for (std::size_t measure = 0; measure < num_measures; ++measure) {
      const bool exists = std::isfinite(scores[measure]);
      const auto& cell = reader.cells[first_sample + sample];
      const auto replicate = cell.replicate - reader.cells[first_sample].replicate;
      const auto place = table.index({measure, subject, cell.template_place, cell.rephrasing, replicate, item});
      table.values[place] = exists ? scores[measure] : stats::nan;
      table.statuses[place] = exists ? ScoreStatus::ok : missing;
    }
  };
  const bool is_weat = test.is_weat();
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    const auto status = samples.status(sample);
    const bool is_missing = status == static_cast<std::uint8_t>(EffectStatus::missing_words);
    const bool is_scored = reader.status_names.at(status) != results::not_scored;
    if (is_scored && status == static_cast<std::uint8_t>(EffectStatus::no_sentence)) {
      continue;  // not applicable
    }
    const auto why = is_missing ? ScoreStatus::missing : is_scored ? ScoreStatus::undefined : ScoreStatus::unscored;
    for (const auto& [row, target] : subjects.of_tests[item]) {
      const bool has_sentence = target && (is_weat || !std::isnan(samples.association(sample, *target)) ||
                                           status == static_cast<std::uint8_t>(EffectStatus::not_finite));
      set(row, sample,
          why != ScoreStatus::undefined || !target ? Scores{stats::nan, stats::nan, stats::nan}
          : is_weat                                ? scores_of_sets(test, samples, sample)
                                                   : scores_of_word(samples, sample, *target),
          !target || (why == ScoreStatus::undefined && !has_sentence) ? ScoreStatus::missing : why);
    }
  }
}

}  // namespace

ContextsReader::ContextsReader(const results::ResultFile& result, std::int64_t wanted_samples) : file_(result) {
  const auto& axes = file_.schema().outer_axes;
  refuse_if(axes.size() != 2, file_, "its contexts are not samples of tests");
  const auto num_in_file = axes[1].labels.size();
  num_samples = wanted_samples == 0 ? num_in_file : static_cast<std::size_t>(wanted_samples);
  base::refuse_if(
      num_samples > num_in_file,
      "statistics.samples: there are no " + std::to_string(num_samples) + " samples in '" + file_.path().string() + "'",
      "each test has " + std::to_string(num_in_file));
  place_samples(axes[1]);
  const auto& kinds = coordinate_of(axes[0], "kind");
  const bool has_wefat = base::contains(kinds, "wefat") || file_.schema().find_cube("cosine");
  for (const auto& wanted : sample_cubes(has_wefat ? EmbeddingTest::Kind::wefat : EmbeddingTest::Kind::weat)) {
    const auto place = file_.schema().find_cube(wanted.name);
    const auto* cube = place ? &file_.schema().cubes[*place] : nullptr;
    refuse_if(cube == nullptr || cube->type != wanted.type || cube->inner_axes != wanted.inner_axes, file_,
              "it has no cube '" + wanted.name + "' of this version");
  }
  status_names = meanings_of(file_.schema(), "status");
  const auto num_targets = file_.schema().inner_axis("target").labels.size();
  const auto words = file_.axis("word");
  const auto& usable = coordinate_of(words, "usable");
  for (std::size_t i = 0; i < words.labels.size(); ++i) {
    word_contexts[words.labels[i]] = static_cast<std::uint64_t>(base::parse_integer(usable[i]).value_or(0));
  }
  consequences = coordinate_of(axes[0], "consequence");
  for (std::size_t i = 0; i < axes[0].labels.size(); ++i) {
    EmbeddingTest test;
    test.label = axes[0].labels[i];
    test.title = coordinate_of(axes[0], "title")[i];
    refuse_if(kinds[i] != "weat" && kinds[i] != "wefat", file_, "'" + kinds[i] + "' is no kind of test");
    test.kind = kinds[i] == "weat" ? EmbeddingTest::Kind::weat : EmbeddingTest::Kind::wefat;
    const std::array sets = {&test.x, &test.y, &test.a, &test.b};
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const std::string role = set_role_names[set];
      *sets[set] = {coordinate_of(axes[0], role)[i], words_of_coordinate(coordinate_of(axes[0], role + "_words")[i])};
    }
    refuse_if(test.num_targets() > num_targets, file_,
              "the test '" + test.label + "' has more words than the axis 'target'");
    const std::string attributes = test.is_weat() ? "weat_attribute" : "attribute";
    refuse_if(test.num_attributes() > file_.schema().inner_axis(attributes).labels.size(), file_,
              "the test '" + test.label + "' has more words than the axis '" + attributes + "'");
    for (const auto& word : list_words({test})) {
      refuse_if(!word_contexts.contains(word), file_,
                "the test '" + test.label + "' has the word '" + word + "', which the axis 'word' lacks");
    }
    tests.push_back(std::move(test));
  }
}

void ContextsReader::place_samples(const results::AxisSchema& samples) {
  auto& [templates, rephrasings, replicates] = sample_axes;
  templates = results::ScoreTable::no_axis(2);
  rephrasings = results::ScoreTable::no_axis(3);
  cells.resize(num_samples);
  const auto place = [&](results::AxisSchema& axis, const char* name, std::size_t SampleCell::*place_of_cell) {
    axis = {axis.name, std::string(name) + " that the sentences were made of", {}, {}};
    for (std::size_t sample = 0; sample < num_samples; ++sample) {
      const auto& label = coordinate_of(samples, name)[sample];
      base::add_once(axis.labels, label);
      cells[sample].*place_of_cell = *results::place_of(axis.labels, label);
    }
  };
  if (!samples.coordinates.empty()) {
    place(templates, "template", &SampleCell::template_place);
    place(rephrasings, "rephrasing", &SampleCell::rephrasing);
  }
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> counts;
  std::size_t most = 1;
  for (auto& cell : cells) {
    cell.replicate = counts[{cell.template_place, cell.rephrasing}]++;
    most = std::max(most, cell.replicate + 1);
  }
  replicates = numbered_axis(results::score_axis_names[4], "sample: a draw of one context per word", most);
}

std::size_t ContextsReader::numbers_per_sample() const {
  std::size_t numbers = 0;
  for (const auto& cube : file_.schema().cubes) {
    numbers += file_.schema().values_per_context(cube);
  }
  return numbers;
}

ContextsSamples ContextsReader::read(std::size_t test, std::size_t first_sample, std::size_t count) const {
  const auto& schema = file_.schema();
  return {file_.read(test * schema.outer_axes[1].labels.size() + first_sample, count), schema};
}

results::ScoreTableAxes score_axes(const Contexts& job) {
  std::array samples = {results::ScoreTable::no_axis(2), results::ScoreTable::no_axis(3), AxisSchema()};
  if (job.is_generated()) {
    samples[0].labels = base::mapped(job.contextual().corpus.templates, &sweep::Template::label);
    samples[1].labels = base::mapped(job.contextual().corpus.rephrasings, &sweep::Rephrasing::label);
  }
  const auto subjects = subjects_of(job.tests, job);
  return {measure_axis(job.tests), subject_axis(subjects.rows), samples[0], samples[1], samples[2],
          item_axis(job.tests)};
}

/// Some samples at a time.
void write_score_table(results::Layout& layout, const ContextsReader& reader, const Contexts& job) {
  const auto& tests = reader.tests;
  const auto subjects = subjects_of(tests, job);
  if (subjects.rows.empty()) {
    return;
  }
  const results::ScoreTableAxes axes = {measure_axis(tests),   subject_axis(subjects.rows), reader.sample_axes[0],
                                        reader.sample_axes[1], reader.sample_axes[2],       item_axis(tests)};
  results::ScoreTableWriter writer(layout, axes);
  const auto per_sample = num_measures * subjects.rows.size() * tests.size() + reader.numbers_per_sample();
  // whole rounds through the templates and rephrasings
  const auto round = static_cast<std::size_t>(std::ranges::count(reader.cells, std::size_t{0}, &SampleCell::replicate));
  const auto at_a_time = std::max<std::size_t>(most_numbers / per_sample / round, 1) * round;
  for (std::size_t first = 0; first < reader.num_samples; first += at_a_time) {
    const auto count = std::min(at_a_time, reader.num_samples - first);
    const auto first_replicate = reader.cells[first].replicate;
    results::ScoreTable table{axes, {}, {}};
    table.axes[4].labels.resize((count + round - 1) / round);
    table.resize();
    std::ranges::fill(table.statuses, ScoreStatus::not_applicable);
    for (std::size_t item = 0; item < tests.size(); ++item) {
      fill(table, reader, subjects, item, reader.read(item, first, count), first);
    }
    const auto length = table.length(4) * tests.size();
    const auto of_sentence = axes[4].labels.size() * tests.size();
    const auto step = length == of_sentence ? table.values.size() : length;  // all samples stand together in the file
    for (std::size_t place = 0; place < table.values.size(); place += step) {
      writer.write(place / length * of_sentence + first_replicate * tests.size(),
                   std::span(table.values).subspan(place, step), std::span(table.statuses).subspan(place, step));
    }
  }
}

}  // namespace stereosweep::probes::contexts
