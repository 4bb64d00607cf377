#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <span>

#include "base/Error.hpp"
#include "probes/association/scores/Statistics.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::association {

namespace {

using results::ScoreStatus;
using WordStatus = stats::ScoreStatus;

constexpr auto nowhere = std::numeric_limits<std::size_t>::max();

constexpr std::uint64_t slab_bytes = std::uint64_t{8} << 20;

/// A score of a pole or a trait pair. Without one (`ok`, `partial`) the number is infinite or NaN.
struct Scored {
  double value = stats::nan;
  ScoreStatus status = ScoreStatus::undefined;
  bool exists() const { return status == ScoreStatus::ok || status == ScoreStatus::partial; }
};

/// One variant of the words of one group in one sentence, with the file's own status of each.
struct Words {
  std::span<const double> values;
  std::span<const WordStatus> statuses;
  std::span<const std::uint8_t> cells;
  std::size_t not_scored;  ///< the cells' status where the run did not come to them
};

/// Why a pole of these words has no score: the run did not come to them, they have no raw number, a number is infinite,
/// or the formula has no value.
Scored without_score(const std::vector<std::size_t>& pole, const Words& words) {
  const auto all = [&](auto condition) { return std::ranges::all_of(pole, condition); };
  if (all([&](auto word) { return words.cells[word] == words.not_scored; })) {
    return {stats::nan, ScoreStatus::unscored};
  }
  const auto is_infinite = [&](auto word) { return std::isinf(words.values[word]); };
  if (const auto first = std::ranges::find_if(pole, is_infinite); first != pole.end()) {
    const bool is_same = std::ranges::none_of(
        pole, [&](auto word) { return is_infinite(word) && words.values[word] != words.values[*first]; });
    return {is_same ? words.values[*first] : stats::nan, ScoreStatus::infinite};
  }
  const bool is_missing = all([&](auto word) {
    return words.statuses[word] == WordStatus::group_not_scored || words.statuses[word] == WordStatus::prior_not_scored;
  });
  return {stats::nan, is_missing ? ScoreStatus::missing : ScoreStatus::undefined};
}

/// Median or mean of the pole's words with a finite score.
Scored score_of_pole(const std::vector<std::size_t>& pole, const Words& words, Statistics::Aggregate aggregate) {
  std::array<std::byte, 512> room;  // NOLINT(*-member-init): a pole of few words needs no heap
  std::pmr::monotonic_buffer_resource pool(room.data(), room.size());
  std::pmr::vector<double> defined(&pool);
  defined.reserve(pole.size());
  for (const auto word : pole) {
    if (std::isfinite(words.values[word])) {
      defined.push_back(words.values[word]);
    }
  }
  if (defined.empty()) {
    return without_score(pole, words);
  }
  const auto value = aggregate == Statistics::Aggregate::median ? stats::median(defined) : stats::mean(defined);
  return {value.value, defined.size() == pole.size() ? ScoreStatus::ok : ScoreStatus::partial};
}

/// Right pole minus left pole (cao2022 §3.2). Without a score of both the first that fits of unscored, missing,
/// infinite, undefined.
Scored score_of_pair(const Scored& left, const Scored& right) {
  Scored pair{right.value - left.value, std::max(left.status, right.status)};
  if (!pair.exists()) {
    for (const auto status :
         {ScoreStatus::undefined, ScoreStatus::infinite, ScoreStatus::missing, ScoreStatus::unscored}) {
      pair.status = left.status == status || right.status == status ? status : pair.status;
    }
    pair.value = pair.status == ScoreStatus::infinite ? pair.value : stats::nan;
  }
  return pair;
}

void put(results::ScoreTableWriter::Part& part, const Scored& score) {
  part.values.push_back(score.value);
  part.statuses.push_back(score.status);
}

}  // namespace

void StatusCounts::add(const StatusCounts& other) {
  std::ranges::transform(cells, other.cells, cells.begin(), std::plus());
  for (std::size_t variant = 0; variant < scores.size(); ++variant) {
    std::ranges::transform(scores[variant], other.scores[variant], scores[variant].begin(), std::plus());
  }
}

std::vector<Variant> variants_of(const results::RawSchema& schema) {
  const auto has = [&](const char* name) { return schema.find_cube(name).has_value(); };
  const bool has_masses = has("log_mass_initial") && has("log_mass_continuation");
  const bool has_distances = has("set_distance_bias") && has("set_distance_plain");
  std::vector<Variant> variants;
  for (std::size_t place = 0; place < stats::num_measures; ++place) {
    const auto measure = static_cast<stats::Measure>(place);
    const bool is_distance = stats::name_of(measure).starts_with("set");
    const bool exists = is_distance ? has_distances : measure != stats::Measure::ilps_star || has_masses;
    for (std::size_t prior = 0; exists && prior < schema.num_priors; ++prior) {
      variants.push_back({measure, schema.outer_axes.front().labels[prior]});
    }
  }
  return variants;
}

ScoreReader::ScoreReader(const results::ResultFile& file, Statistics::Aggregate aggregate)
    : file_(file), aggregate_(aggregate), traits_(file.schema().inner_axis("word")) {
  base::refuse_if(num_priors_ == 0, "no scores can be derived from '" + file.path().string() + "'",
                  "it has no priors, and a score is the difference to one");
  for (const auto& variant : variants_) {
    base::add_once(measures_, variant.measure);
  }
}

StatusCounts ScoreReader::no_counts() const {
  return {std::vector<std::uint64_t>(cell_status_names().size()), decltype(StatusCounts::scores)(variants_.size())};
}

ScoreReader::Side ScoreReader::fold(const results::RawBlock& block, std::uint64_t num_sentences) const {
  const auto cells = num_sentences * num_words_;
  const auto& schema = file_.schema();
  const auto& counts = column_named<std::int32_t>(block, schema, "num_subwords");
  const auto measured = [&](const char* name) {
    return schema.find_cube(name) ? std::span(column_named<double>(block, schema, name)) : std::span<const double>();
  };
  const auto& logprob = column_named<double>(block, schema, "logprob");
  const auto initial = measured("log_mass_initial");
  const auto continuation = measured("log_mass_continuation");
  const auto distance_bias = measured("set_distance_bias");
  const auto distance_plain = measured("set_distance_plain");
  Side side(measures_.size() * cells);
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(counts[cell], 0, num_subwords_));
    const auto part = [&](std::span<const double> from) {
      return from.empty() ? from : from.subspan(cell * num_subwords_, count);
    };
    const stats::WordNumbers word{part(logprob), part(initial), part(continuation), part(distance_bias),
                                  part(distance_plain)};
    for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
      side[measure * cells + cell] = stats::fold_subwords(measures_[measure], word);
    }
  }
  return side;
}

std::uint64_t ScoreReader::sentences_of_slab() const {
  return std::min(num_sentences_, file_.contexts_within(slab_bytes));
}

std::uint64_t ScoreReader::num_slabs() const {
  const auto step = sentences_of_slab();
  return num_groups_ * ((num_sentences_ + step - 1) / step);
}

void ScoreReader::for_each(const std::function<void(const ScoreSlab&)>& use, std::uint64_t share,
                           std::uint64_t num_shares) const {
  const auto step = sentences_of_slab();
  std::uint64_t place = 0;
  std::vector<Side> prior_sides;
  std::optional<std::uint64_t> prior_first;  // sentences that prior_sides are of: all groups share them
  for (std::uint64_t group = 0; group < num_groups_; ++group) {
    for (std::uint64_t first = 0; first < num_sentences_; first += step) {
      if (place++ % num_shares != share) {
        continue;
      }
      const auto count = std::min(step, num_sentences_ - first);
      if (prior_first != first) {
        prior_sides.clear();
        for (std::uint64_t prior = 0; prior < num_priors_; ++prior) {
          prior_sides.push_back(fold(file_.read(prior * num_sentences_ + first, count), count));
        }
        prior_first = first;
      }
      auto slab = score(file_.read((num_priors_ + group) * num_sentences_ + first, count), count, prior_sides);
      for (auto* part : {&slab.poles, &slab.pairs}) {
        part->subject = group;
        part->first_sentence = first;
        part->num_sentences = count;
      }
      use(slab);
    }
  }
}

ScoreSlab ScoreReader::score(const results::RawBlock& block, std::uint64_t num_sentences,
                             const std::vector<Side>& prior_sides) const {
  const auto cells = num_sentences * num_words_;
  const auto side = fold(block, num_sentences);
  const std::span cell_statuses = column_named<std::uint8_t>(block, file_.schema(), "status");
  ScoreSlab slab{{}, {}, no_counts()};
  for (const auto status : cell_statuses) {
    ++slab.counts.cells.at(status);
  }
  std::vector<double> numbers(cells);
  std::vector<WordStatus> statuses(cells);
  std::vector<Scored> poles(traits_.poles.size());
  for (std::size_t variant = 0; variant < variants_.size(); ++variant) {
    const auto first = variant / num_priors_ * cells;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const auto word = stats::association(side[first + cell], prior_sides[variant % num_priors_][first + cell]);
      numbers[cell] = word.value;
      statuses[cell] = word.status;
      ++slab.counts.scores[variant][static_cast<std::size_t>(word.status)];
    }
    for (std::uint64_t begin = 0; begin < cells; begin += num_words_) {
      const Words words{std::span(numbers).subspan(begin, num_words_), std::span(statuses).subspan(begin, num_words_),
                        cell_statuses.subspan(begin, num_words_), not_scored_};
      for (std::size_t pole = 0; pole < poles.size(); ++pole) {
        poles[pole] = score_of_pole(traits_.poles[pole].words, words, aggregate_);
        put(slab.poles, poles[pole]);
      }
      for (const auto& pair : traits_.pairs) {
        put(slab.pairs, score_of_pair(poles[pair.left], poles[pair.right]));
      }
    }
  }
  return slab;
}

TraitPairs::TraitPairs(const results::AxisSchema& words) {
  const auto& pair_of = coordinate_of(words, "pair");
  const auto& pole_of = coordinate_of(words, "pole");
  const auto& side_of = coordinate_of(words, "side");
  const auto& dimension_of = coordinate_of(words, "dimension");
  for (std::size_t word = 0; word < words.labels.size(); ++word) {
    auto pair = std::ranges::find(pairs, pair_of[word], &Pair::label);
    if (pair == pairs.end()) {
      pairs.push_back({pair_of[word], dimension_of[word], nowhere, nowhere});
      pair = pairs.end() - 1;
    }
    auto& pole = side_of[word] == "right" ? pair->right : pair->left;
    if (pole == nowhere) {
      pole = poles.size();
      poles.push_back({pole_of[word], static_cast<std::size_t>(pair - pairs.begin()), side_of[word], {}});
    }
    poles[pole].words.push_back(word);
  }
  for (const auto& pair : pairs) {
    base::fail_if(pair.left == nowhere || pair.right == nowhere, "cannot derive trait-pair scores",
                  "the pair '" + pair.label + "' has words on one side only");
  }
}

results::AxisSchema TraitPairs::pole_axis() const {
  return axis_of("pole", "pole of a trait pair", poles, &Pole::label,
                 {{"pair", "trait pair", [&](const auto& pole) { return pairs[pole.pair].label; }},
                  {"side", "left = 0, right = 100 on rating scales", &Pole::side}});
}

results::AxisSchema TraitPairs::item_axis() const {
  return axis_of(results::score_axis_names[5], "trait pair; a score above 0 leans to the right pole", pairs,
                 &Pair::label,
                 {{"dimension", "dimension of the trait pair", &Pair::dimension},
                  {"left", "left pole", [&](const auto& pair) { return poles[pair.left].label; }},
                  {"right", "right pole", [&](const auto& pair) { return poles[pair.right].label; }}});
}

}  // namespace stereosweep::probes::association
