#include "probes/association/scores/ScoreReader.hpp"

#include <algorithm>

#include "base/Error.hpp"

namespace stereosweep::probes::association {

namespace {

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

stats::WordNumbers ScoreReader::numbers(const results::RawBlock& block, std::uint64_t cell) const {
  const auto known = values<std::int32_t>(block, num_subwords_column_)[cell];
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(known, 0, num_subwords_));
  const auto part = [&](const std::optional<std::size_t>& from) {
    return from ? std::span(values<double>(block, *from)).subspan(cell * num_subwords_, count)
                : std::span<const double>();
  };
  return {part(logprob_), part(initial_), part(continuation_), part(distance_bias_), part(distance_plain_)};
}

ScoreReader::Side ScoreReader::fold(const results::RawBlock& block, std::uint64_t num_sentences) const {
  const auto cells = num_sentences * num_words_;
  Side side(measures_.size() * cells);
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    const auto word = numbers(block, cell);
    for (std::size_t measure = 0; measure < measures_.size(); ++measure) {
      side[measure * cells + cell] = stats::fold_subwords(measures_[measure], word);
    }
  }
  return side;
}

void ScoreReader::for_each(const std::function<void(const ScoreSlab&)>& use) const {
  const auto step = std::min(num_sentences_, file_.contexts_within(slab_bytes));
  std::vector<Side> prior_sides;
  std::optional<std::uint64_t> prior_first;  // sentences that prior_sides are of: all groups share them
  for (std::uint64_t group = 0; group < num_groups_; ++group) {
    for (std::uint64_t first = 0; first < num_sentences_; first += step) {
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

}  // namespace stereosweep::probes::association
