#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Packing.hpp"
#include "base/text/Text.hpp"
#include "parallel/Messenger.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/association/Association.hpp"
#include "results/RawBlock.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/IncreasedLogProbability.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::probes::association {
namespace {

using results::ScoreStatus;
using WordStatus = stats::ScoreStatus;

constexpr auto nowhere = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t slab_bytes = std::uint64_t{8} << 20;

// Scores of an association result, a slab of sentences at a time: words -> poles -> trait pairs.

/// A measure of the score table: a variant of the score and a prior.
struct Variant {
  stats::Measure measure;
  std::string prior;
  /// "ilps_star prior_word"
  std::string label() const { return std::string(stats::name_of(measure)) + " " + prior; }
};

/// Each measure whose raw numbers the result has with each of its priors.
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

/// Cells of groups by the file's status; scores of words by stats::ScoreStatus.
struct StatusCounts {
  std::vector<std::uint64_t> cells;
  std::vector<std::array<std::uint64_t, stats::score_status_names.size()>> scores;  ///< [variant]
  void add(const StatusCounts& other) {
    std::ranges::transform(cells, other.cells, cells.begin(), std::plus());
    for (std::size_t variant = 0; variant < scores.size(); ++variant) {
      std::ranges::transform(scores[variant], other.scores[variant], scores[variant].begin(), std::plus());
    }
  }
};

/// Scores of one group in consecutive sentences.
struct ScoreSlab {
  results::ScoreTableWriter::Part poles;  ///< items: poles
  results::ScoreTableWriter::Part pairs;  ///< items: trait pairs
  StatusCounts counts;
};

/// Poles and trait pairs, as the axis of words says.
struct TraitPairs {
  struct Pole {
    std::string label;
    std::size_t pair = 0;
    std::string side;  ///< "left", "right"
    std::vector<std::size_t> words;
  };
  struct Pair {
    std::string label;
    std::string dimension;
    std::size_t left = 0;  ///< poles
    std::size_t right = 0;
  };
  /// From the word axis with its coordinates pair, pole, side, dimension. Throws InputError if one is missing,
  /// base::Error if a pair lacks a pole.
  explicit TraitPairs(const results::AxisSchema& words) {
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

  results::AxisSchema pole_axis() const {
    return axis_of("pole", "pole of a trait pair", poles, &Pole::label,
                   {{"pair", "trait pair", [&](const auto& pole) { return pairs[pole.pair].label; }},
                    {"side", "left = 0, right = 100 on rating scales", &Pole::side}});
  }

  /// Of the score table: items.
  results::AxisSchema item_axis() const {
    return axis_of(results::score_axis_names[5], "trait pair; a score above 0 leans to the right pole", pairs,
                   &Pair::label,
                   {{"dimension", "dimension of the trait pair", &Pair::dimension},
                    {"left", "left pole", [&](const auto& pair) { return poles[pair.left].label; }},
                    {"right", "right pole", [&](const auto& pair) { return poles[pair.right].label; }}});
  }

  std::vector<Pole> poles;
  std::vector<Pair> pairs;
};

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

/// Reads with bounded memory: a slab of the group, and the same sentences of the priors.
class ScoreReader {
 public:
  /// `file` is borrowed. Throws InputError if it has no priors.
  ScoreReader(const results::ResultFile& file, Statistics::Aggregate aggregate)
      : file_(file), aggregate_(aggregate), traits_(file.schema().inner_axis("word")) {
    base::refuse_if(num_priors_ == 0, "no scores can be derived from '" + file.path().string() + "'",
                    "it has no priors, and a score is the difference to one");
    for (const auto& variant : variants_) {
      base::add_once(measures_, variant.measure);
    }
  }

  const TraitPairs& traits() const { return traits_; }
  const std::vector<Variant>& variants() const { return variants_; }
  /// Of the file's status cube, in the order of its numbers.
  const std::vector<std::string>& cell_status_names() const { return meanings_of(file_.schema(), "status"); }

  StatusCounts no_counts() const {
    return {std::vector<std::uint64_t>(cell_status_names().size()), decltype(StatusCounts::scores)(variants_.size())};
  }

  /// All slabs, in canonical order; of `num_shares` shares of them, which are dealt in turn, share `share`.
  void for_each(const std::function<void(const ScoreSlab&)>& use, std::uint64_t share = 0,
                std::uint64_t num_shares = 1) const {
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

  std::uint64_t num_slabs() const {
    const auto step = sentences_of_slab();
    return num_groups_ * ((num_sentences_ + step - 1) / step);
  }

 private:
  /// Folded numbers of one side: [measure, sentence, word].
  using Side = std::vector<stats::Score>;

  Side fold(const results::RawBlock& block, std::uint64_t num_sentences) const {
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

  ScoreSlab score(const results::RawBlock& block, std::uint64_t num_sentences,
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

  std::uint64_t sentences_of_slab() const { return std::min(num_sentences_, file_.contexts_within(slab_bytes)); }

  const results::ResultFile& file_;
  Statistics::Aggregate aggregate_;
  TraitPairs traits_;
  std::vector<stats::Measure> measures_;
  std::vector<Variant> variants_ = variants_of(file_.schema());
  std::uint64_t num_priors_ = file_.schema().num_priors;
  std::uint64_t num_groups_ = file_.schema().outer_axes.front().labels.size() - num_priors_;
  std::uint64_t num_sentences_ = file_.contexts_per_subject();
  std::uint64_t num_words_ = file_.schema().inner_axis("word").labels.size();
  std::uint64_t num_subwords_ = file_.schema().inner_axis("subword").labels.size();
  /// Number of that status; their number where there is none.
  std::size_t not_scored_ =
      results::place_of(cell_status_names(), results::not_scored).value_or(cell_status_names().size());
};

// Slabs of a result under several ranks: all but rank zero read and fold them, rank zero takes them in their order. So
// every number is made by the same steps as on one rank.

constexpr std::uint32_t slab_kind = 1;
constexpr std::uint32_t taken_kind = 2;
constexpr std::uint64_t slabs_ahead = 2;

auto fields_of(base::Either<ScoreSlab> auto& slab) {
  const auto of_part = [](auto& part) {
    return std::tie(part.subject, part.first_sentence, part.num_sentences, part.values, part.statuses);
  };
  return std::tuple_cat(of_part(slab.poles), of_part(slab.pairs), std::tie(slab.counts.cells, slab.counts.scores));
}

/// On rank zero: `use(slab)` of all slabs in canonical order.
void receive_slabs(const parallel::Communicator& world, std::uint64_t num_slabs,
                   const std::function<void(const ScoreSlab&)>& use) {
  parallel::Messenger messenger(world);
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  for (std::uint64_t place = 0; place < num_slabs; ++place) {
    const auto source = 1 + static_cast<int>(place % num_shares);
    const auto bytes = messenger.wait_for(source);
    messenger.send(source, taken_kind);
    ScoreSlab slab;
    base::unpack(bytes, fields_of(slab));
    use(slab);
  }
  messenger.wait_until_sent();
}

/// The labels of the parts of an intersection, joined by "+" in `components` and by " x " in its own label. So a plus
/// that the label has, too, is of a part's label.
std::vector<std::string> parts_of(const std::string& components, const std::string& label) {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0, in_label = 0; at < components.size(); ++at) {
    if (components[at] == '+' && label.compare(in_label, 3, " x ") == 0) {
      parts.emplace_back();
      in_label += 3;
    } else {
      parts.back() += components[at];
      ++in_label;
    }
  }
  return parts;
}

/// Groups and intersections, with what they are made of.
results::AxisSchema subject_axis(const results::AxisSchema& groups) {
  const auto& kinds = coordinate_of(groups, "kind");
  const auto& domains = coordinate_of(groups, "domain");
  const auto& components = coordinate_of(groups, "components");
  results::AxisSchema::Coordinate domain{"domain", "domain of the group; of an intersection's groups, joined by x", {}};
  results::AxisSchema::Coordinate first{"first", "label of the group; of an intersection's first group", {}};
  results::AxisSchema::Coordinate second{"second", "label of an intersection's second group; empty: a group", {}};
  std::map<std::string, std::string> domain_of;
  std::vector<std::vector<std::string>> parts;
  for (std::size_t index = 0; index < groups.labels.size(); ++index) {
    const bool is_crossed = kinds[index] == "intersection";
    parts.push_back(is_crossed ? parts_of(components[index], groups.labels[index]) : std::vector{components[index]});
    const auto known = [&](const std::string& part) { return domain_of[part]; };
    domain.values.push_back(is_crossed ? base::join(base::mapped(parts.back(), known), " x ") : domains[index]);
    domain_of.try_emplace(parts.back().front(), domains[index]);
    first.values.push_back(parts.back().front());
    second.values.push_back(parts.back().size() > 1 ? parts.back()[1] : "");
  }
  results::AxisSchema axis{
      "subject",
      "group or intersection",
      groups.labels,
      {{"kind", "group or intersection", kinds}, std::move(domain), std::move(first), std::move(second)}};
  add_further_parts(axis, parts);
  return axis;
}

results::AxisSchema measure_axis(const std::vector<Variant>& variants) {
  return axis_of("measure", "variant of the score and its prior", variants, &Variant::label,
                 {{"units", "unit of the score", [](const auto&) { return "nat"; }},
                  {"description", "definition",
                   [](const auto& variant) { return std::string(stats::description_of(variant.measure)); }},
                  {"variant", "variant of the score",
                   [](const auto& variant) { return std::string(stats::name_of(variant.measure)); }},
                  {"prior", "what stands in the group's place where the score is zero", &Variant::prior}});
}

/// Cells by status, and undefined scores by measure and reason.
std::string text_of(const StatusCounts& counts, const ScoreReader& reader, const results::ShownMeasures& shown) {
  results::TerminalTable undefined({"scores that do not exist", "reason", "number"});
  std::size_t num_reasons = 0;
  for (std::size_t variant = 0; variant < counts.scores.size(); ++variant) {
    const auto label = reader.variants()[variant].label();
    for (std::size_t reason = 1; shown.holds(label) && reason < counts.scores[variant].size(); ++reason) {
      if (const auto number = counts.scores[variant][reason]; number > 0) {
        undefined.add({label, std::string(stats::score_status_names[reason]), base::with_thousands(number)});
        ++num_reasons;
      }
    }
  }
  return cells_text(reader.cell_status_names(), counts.cells) + "\n" +
         (num_reasons > 0 ? undefined.text() : std::string("Every score of the measures above exists.\n"));
}

}  // namespace

results::ScoreTableAxes score_axes(const results::RawSchema& schema) {
  return {measure_axis(variants_of(schema)), subject_axis(results::group_axis(schema)),
          schema.outer_axes.at(1),           schema.outer_axes.at(2),
          results::ScoreTable::no_axis(4),   TraitPairs(schema.inner_axis("word")).item_axis()};
}

std::string write_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                             const results::StatisticsTarget& target, const results::ShownMeasures& shown,
                             const parallel::Communicator& world) {
  const ScoreReader reader(file, word_aggregate);
  results::StatisticsFile written(file, Association::probe_name, target);
  written.root().write_attribute("word_aggregate", word_aggregate == Statistics::Aggregate::median ? "median" : "mean");
  auto counts = reader.no_counts();
  {
    auto axes = score_axes(file.schema());
    results::ScoreTableWriter pairs(written.layout(), axes, "score", written.left_out());
    axes.back() = reader.traits().pole_axis();
    results::ScoreTableWriter poles(written.layout(), axes, results::pole_score_name, written.left_out());
    const auto use = [&](const ScoreSlab& slab) {
      pairs.add(slab.pairs);
      poles.add(slab.poles);
      counts.add(slab.counts);
    };
    if (world.size() > 1) {
      receive_slabs(world, reader.num_slabs(), use);
    } else {
      reader.for_each(use);
    }
    pairs.flush();
    poles.flush();
  }
  written.commit();
  return text_of(counts, reader, shown);
}

/// Sends this rank's share, at most two slabs ahead of what rank zero has taken.
void assist_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                       const parallel::Communicator& world) {
  parallel::Messenger messenger(world);
  std::uint64_t sent = 0;
  const auto share = static_cast<std::uint64_t>(world.rank()) - 1;
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  const auto send = [&](const ScoreSlab& slab) {
    auto bytes = base::packed(fields_of(slab));
    if (sent++ >= slabs_ahead) {
      messenger.wait_for(0);
    }
    messenger.send(0, slab_kind, std::move(bytes));
  };
  ScoreReader(file, word_aggregate).for_each(send, share, num_shares);
  messenger.wait_until_sent();
  for (auto left = std::min(sent, slabs_ahead); left > 0; --left) {
    messenger.wait_for(0);
  }
}

std::string status_text(const results::ResultFile& file) {
  const ScoreReader reader(file, Statistics::Aggregate::median);
  auto counts = reader.no_counts();
  reader.for_each([&](const ScoreSlab& slab) { counts.add(slab.counts); });
  return text_of(counts, reader, {});
}

}  // namespace stereosweep::probes::association
