#include "probes/association/scores/ScoreReader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory_resource>
#include <span>

#include "base/Error.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::association {

namespace {

constexpr auto undefined = CoveredScore{std::numeric_limits<double>::quiet_NaN(), Coverage::none};
constexpr auto nowhere = std::numeric_limits<std::size_t>::max();

constexpr std::uint64_t slab_bytes = std::uint64_t{8} << 20;

[[noreturn]] void refuse(const results::ResultFile& file, const std::string& why) {
  throw base::InputError(base::describe("no scores can be derived from '" + file.path().string() + "'", why));
}

template <class T>
const std::vector<T>& values(const results::RawBlock& block, std::size_t column) {
  const auto* found = std::get_if<std::vector<T>>(&block.columns[column]);
  if (found == nullptr) {
    throw base::Error(base::describe("cannot derive scores", "a cube has another element type than it should"));
  }
  return *found;
}

}  // namespace

ScoreReader::ScoreReader(const results::ResultFile& file) : file_(file) {
  const auto& schema = file.schema();
  if (file.text("schema") != "stereosweep/association") {
    refuse(file, "it is no result of the probe 'association'");
  }
  if (schema.num_priors == 0) {
    refuse(file, "it has no priors, and a score is the difference to one");
  }
  const auto required = [&](const std::string& name) {
    const auto index = column(name);
    if (!index) {
      refuse(file, "it has no cube '" + name + "'");
    }
    return *index;
  };
  num_subwords_column_ = required("num_subwords");
  status_column_ = required("status");
  logprob_ = required("logprob");
  initial_ = column("log_mass_initial");
  continuation_ = column("log_mass_continuation");
  distance_bias_ = column("set_distance_bias");
  distance_plain_ = column("set_distance_plain");
  const auto& subjects = schema.outer_axes.front().labels;
  priors_.assign(subjects.begin(), subjects.begin() + static_cast<std::ptrdiff_t>(schema.num_priors));
  num_groups_ = subjects.size() - schema.num_priors;
  num_sentences_ = file.contexts_per_subject();
  num_words_ = schema.inner_axis("word").labels.size();
  num_subwords_ = schema.inner_axis("subword").labels.size();
  for (const auto measure : stats::all_measures) {
    const auto name = stats::name_of(measure);
    const bool needs_masses = measure == stats::Measure::ilps_star;
    const bool needs_distances = name.starts_with("set");
    if ((!needs_masses || (initial_ && continuation_)) && (!needs_distances || (distance_bias_ && distance_plain_))) {
      measures_.push_back(measure);
    }
  }
}

std::optional<std::size_t> ScoreReader::column(const std::string& name) const {
  const auto& cubes = file_.schema().cubes;
  const auto found = std::find_if(cubes.begin(), cubes.end(), [&](const auto& cube) { return cube.name == name; });
  return found == cubes.end() ? std::nullopt : std::optional<std::size_t>(found - cubes.begin());
}

ScoreReader::Side ScoreReader::fold(const results::RawBlock& block, std::uint64_t num_sentences) const {
  const auto cells = num_sentences * num_words_;
  const std::span counts = values<std::int32_t>(block, num_subwords_column_);
  const auto cube = [&](const std::optional<std::size_t>& from) {
    return from ? std::span(values<double>(block, *from)) : std::span<const double>();
  };
  const auto logprob = cube(logprob_);
  const auto initial = cube(initial_);
  const auto continuation = cube(continuation_);
  const auto distance_bias = cube(distance_bias_);
  const auto distance_plain = cube(distance_plain_);
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

void ScoreReader::for_each(std::uint64_t share, std::uint64_t num_shares,
                           const std::function<void(const ScoreSlab&)>& use) const {
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
      const auto cells = count * num_words_;
      if (prior_first != first) {
        prior_sides.clear();
        for (std::uint64_t prior = 0; prior < priors_.size(); ++prior) {
          prior_sides.push_back(fold(file_.read(prior * num_sentences_ + first, count), count));
        }
        prior_first = first;
      }
      const auto block = file_.read((priors_.size() + group) * num_sentences_ + first, count);
      const auto side = fold(block, count);
      ScoreSlab slab{group, first, count, {}, {}, values<std::uint8_t>(block, status_column_)};
      slab.values.reserve(measures_.size() * priors_.size() * cells);
      slab.statuses.reserve(slab.values.capacity());
      for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
        for (const auto& prior_side : prior_sides) {
          for (auto cell = measure * cells; cell < (measure + 1) * cells; ++cell) {
            const auto score = stats::association(side[cell], prior_side[cell]);
            slab.values.push_back(score.value);
            slab.statuses.push_back(score.status);
          }
        }
      }
      use(slab);
    }
  }
}

TraitPairs::TraitPairs(const results::AxisSchema& words) {
  const auto& pair_of = coordinate_of(words, "pair");
  const auto& pole_of = coordinate_of(words, "pole");
  const auto& side_of = coordinate_of(words, "side");
  const auto& dimension_of = coordinate_of(words, "dimension");
  for (std::size_t word = 0; word < words.labels.size(); ++word) {
    auto pair =
        std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& known) { return known.label == pair_of[word]; });
    if (pair == pairs_.end()) {
      pairs_.push_back({pair_of[word], dimension_of[word], nowhere, nowhere});
      pair = pairs_.end() - 1;
    }
    auto& pole = side_of[word] == "right" ? pair->right : pair->left;
    if (pole == nowhere) {
      pole = poles_.size();
      poles_.push_back({pole_of[word], static_cast<std::size_t>(pair - pairs_.begin()), side_of[word], {}});
    }
    poles_[pole].words.push_back(word);
  }
  for (const auto& pair : pairs_) {
    if (pair.left == nowhere || pair.right == nowhere) {
      throw base::Error(base::describe("cannot derive trait-pair scores",
                                       "the pair '" + pair.label + "' has words on one side only"));
    }
  }
}

CoveredScore TraitPairs::pole_score(std::size_t pole, std::span<const double> word_scores,
                                    Statistics::Aggregate aggregate) const {
  std::array<std::byte, 512> room;  // NOLINT(*-member-init): a pole of few words needs no heap
  std::pmr::monotonic_buffer_resource pool(room.data(), room.size());
  std::pmr::vector<double> defined(&pool);
  defined.reserve(poles_[pole].words.size());
  for (const auto word : poles_[pole].words) {
    if (!std::isnan(word_scores[word])) {
      defined.push_back(word_scores[word]);
    }
  }
  if (defined.empty()) {
    return undefined;
  }
  const auto value = aggregate == Statistics::Aggregate::median ? stats::median(defined) : stats::mean(defined);
  return {value.value, defined.size() == poles_[pole].words.size() ? Coverage::all : Coverage::some};
}

CoveredScore TraitPairs::pair_score(std::size_t pair, std::span<const CoveredScore> pole_scores) const {
  const auto& left = pole_scores[pairs_[pair].left];
  const auto& right = pole_scores[pairs_[pair].right];
  if (left.coverage == Coverage::none || right.coverage == Coverage::none) {
    return undefined;
  }
  return {right.value - left.value, std::max(left.coverage, right.coverage)};
}

results::AxisSchema TraitPairs::pole_axis() const {
  return axis_of("pole", "pole of a trait pair", poles_, &Pole::label,
                 {{"pair", "trait pair", [&](const auto& pole) { return pairs_[pole.pair].label; }},
                  {"side", "left = 0, right = 100 on rating scales", &Pole::side}});
}

results::AxisSchema TraitPairs::pair_axis() const {
  return axis_of("pair", "trait pair; a score above 0 leans to the right pole", pairs_, &Pair::label,
                 {{"dimension", "dimension of the trait pair", &Pair::dimension},
                  {"left", "left pole", [&](const auto& pair) { return poles_[pair.left].label; }},
                  {"right", "right pole", [&](const auto& pair) { return poles_[pair.right].label; }}});
}

SlabScores fold_traits(const ScoreSlab& slab, std::size_t num_words, const TraitPairs& traits,
                       Statistics::Aggregate aggregate) {
  SlabScores scores;
  const auto rows = slab.values.size() / num_words;
  scores.poles.reserve(rows * traits.poles().size());
  scores.pairs.reserve(rows * traits.pairs().size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto words = std::span(slab.values).subspan(row * num_words, num_words);
    const auto first_pole = scores.poles.size();
    for (std::size_t pole = 0; pole < traits.poles().size(); ++pole) {
      scores.poles.push_back(traits.pole_score(pole, words, aggregate));
    }
    const auto poles = std::span(std::as_const(scores.poles)).subspan(first_pole);
    for (std::size_t pair = 0; pair < traits.pairs().size(); ++pair) {
      scores.pairs.push_back(traits.pair_score(pair, poles));
    }
  }
  return scores;
}

PairScoreSum::PairScoreSum(findings::ScoreAxes axes, std::vector<std::size_t> detailed_groups,
                           std::size_t num_cell_statuses) {
  is_selected_.assign(axes.templates.size(), 0);
  for (const auto index : axes.selected_templates) {
    is_selected_[index] = 1;
  }
  const auto tables = axes.measures.size() * axes.priors.size();
  sums_.axes = std::move(axes);
  sums_.detailed_groups = std::move(detailed_groups);
  const auto num_pairs = sums_.axes.pairs.size();
  sums_.overall.resize(tables * sums_.axes.groups.size() * num_pairs);
  sums_.by_template.resize(tables * sums_.axes.templates.size() * sums_.detailed_groups.size() * num_pairs);
  sums_.cells_by_status.resize(num_cell_statuses);
  sums_.scores_by_status.resize(tables);
}

void PairScoreSum::add(const ScoreSlab& slab, const SlabScores& scores) {
  const auto& axes = sums_.axes;
  for (const auto status : slab.cell_statuses) {
    ++sums_.cells_by_status.at(status);
  }
  const auto& detailed = sums_.detailed_groups;
  const auto found = std::lower_bound(detailed.begin(), detailed.end(), slab.group);
  const bool is_detailed = found != detailed.end() && *found == slab.group;
  const auto place = static_cast<std::size_t>(found - detailed.begin());
  const auto num_tables = axes.measures.size() * axes.priors.size();
  const auto scores_per_table = slab.statuses.size() / num_tables;
  const auto pairs_per_table = slab.num_sentences * axes.pairs.size();
  for (std::size_t table = 0; table < num_tables; ++table) {
    for (std::size_t index = 0; index < scores_per_table; ++index) {
      ++sums_.scores_by_status[table][static_cast<std::size_t>(slab.statuses[table * scores_per_table + index])];
    }
    const auto measure = table / axes.priors.size();
    const auto prior = table % axes.priors.size();
    for (std::size_t index = 0; index < pairs_per_table; ++index) {
      const auto& score = scores.pairs[table * pairs_per_table + index];
      if (score.coverage == Coverage::none) {
        continue;
      }
      const auto pair = index % axes.pairs.size();
      const auto sentence = (slab.first_sentence + index / axes.pairs.size()) / axes.rephrasings.size();
      if (is_detailed) {
        sums_.by_template[sums_.template_index(measure, prior, sentence, place, pair)].add(score.value);
      }
      if (is_selected_[sentence] != 0) {
        sums_.overall[sums_.overall_index(measure, prior, slab.group, pair)].add(score.value);
      }
    }
  }
}

}  // namespace stereosweep::probes::association
