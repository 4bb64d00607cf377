#include "probes/contexts/effects/EffectsProbe.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/text/JsonValue.hpp"
#include "results/Export.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/EffectSize.hpp"

namespace stereosweep::probes::contexts {
namespace {

using results::ElementType;

constexpr double least_variance = stats::cosine_rounding * stats::cosine_rounding;

/// The vector that stands for a word in one sample.
struct Drawn {
  const float* vector = nullptr;
  double inverse_length = 0;
};

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// ddof 1, of at least two numbers, in two passes.
double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return squares / static_cast<double>(values.size() - 1);
}

/// Computes samples of one test into their cubes; keeps its buffers from one to the next.
class Sampler {
 public:
  Sampler(const TestInUse& test, const VectorStore& store, ContextsSamples& samples)
      : test_(test),
        store_(store),
        out_(samples),
        dimension_(store.dimension()),
        num_x_(test.places(SetRole::x).size()),
        num_a_(test.places(SetRole::a).size()),
        places_(base::joined(test.sets)),
        drawn_(places_.size()),
        targets_(std::span(drawn_).first(num_x_ + test.places(SetRole::y).size())),
        attributes_(std::span(drawn_).subspan(targets_.size())),
        contrast_(dimension_),
        cosines_(attributes_.size()) {}

  void compute(std::size_t sample, const auto& draw) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::optional<std::uint64_t> context = draw(places_[i]);
      drawn_[i] = {};
      if (context) {
        drawn_[i] = {store_.row(places_[i], *context), store_.inverse_length(places_[i], *context)};
        prefetch(drawn_[i].vector);
      }
    }
    if (has_words(sample)) {
      set_status(sample, test_.test.is_weat() ? compute_weat(sample) : compute_wefat(sample));
    }
  }

 private:
  void set_status(std::size_t sample, EffectStatus status) const {
    out_.status(sample) = static_cast<std::uint8_t>(status);
  }

  /// Whether there are the sentences that the sample needs; of a wefat test one target is enough.
  bool has_words(std::size_t sample) const {
    const auto is_there = [](const Drawn& word) { return word.vector != nullptr; };
    if (std::ranges::none_of(targets_, is_there)) {
      set_status(sample, EffectStatus::no_sentence);
      return false;
    }
    return (!test_.test.is_weat() || std::ranges::all_of(targets_, is_there)) &&
           std::ranges::all_of(attributes_, is_there);
  }

  /// The beginning of a row; what follows is fetched by the processor itself.
  void prefetch(const float* row) const {
    constexpr std::size_t floats_per_line = 16;
    constexpr std::size_t lines = 8;
    for (std::size_t line = 0; line < lines && line * floats_per_line < dimension_; ++line) {
      __builtin_prefetch(row + line * floats_per_line);
    }
  }

  /// Mean unit vector of the first `num_first` of `words` minus that of the others: a word's association is its cosine
  /// with all of them at once.
  void set_contrast(std::span<const Drawn> words, std::size_t num_first) {
    std::fill(contrast_.begin(), contrast_.end(), 0.0);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const double weight =
          i < num_first ? 1 / static_cast<double>(num_first) : -1 / static_cast<double>(words.size() - num_first);
      stats::add_scaled(words[i].vector, words[i].inverse_length * weight, dimension_, contrast_.data());
    }
  }

  /// Association of every word with the contrast; whether all are finite.
  bool associate(std::span<const Drawn> words, const SampleCube<double>& associations, std::size_t sample) const {
    bool finite = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const double association = words[i].inverse_length * stats::dot(words[i].vector, contrast_.data(), dimension_);
      associations(sample, i) = association;
      finite = finite && std::isfinite(association);
    }
    return finite;
  }

  EffectStatus compute_weat(std::size_t sample) {
    set_contrast(targets_, num_x_);
    associate(attributes_, out_.attribute_association, sample);
    set_contrast(attributes_, num_a_);
    if (!associate(targets_, out_.association, sample)) {
      return EffectStatus::not_finite;
    }
    const std::span<const double> all(&out_.association(sample), targets_.size());
    const double variance = out_.association_variance(sample) = variance_of(all);
    if (!(variance > least_variance)) {
      return EffectStatus::zero_deviation;
    }
    out_.effect_size(sample) = (mean_of(all.first(num_x_)) - mean_of(all.subspan(num_x_))) / std::sqrt(variance);
    return EffectStatus::ok;
  }

  /// Every cosine is needed: the deviation is over them.
  EffectStatus compute_wefat(std::size_t sample) {
    units_.assign(attributes_.size() * dimension_, 0.0);
    for (std::size_t i = 0; i < attributes_.size(); ++i) {
      const auto& drawn = attributes_[i];
      stats::add_scaled(drawn.vector, drawn.inverse_length, dimension_, units_.data() + i * dimension_);
    }
    auto status = EffectStatus::ok;
    for (std::size_t target = 0; target < targets_.size(); ++target) {
      const auto& drawn = targets_[target];
      if (drawn.vector == nullptr) {
        continue;
      }
      for (std::size_t i = 0; i < attributes_.size(); ++i) {
        cosines_[i] = drawn.inverse_length * stats::dot(drawn.vector, units_.data() + i * dimension_, dimension_);
        out_.cosine(sample, target, i) = static_cast<float>(cosines_[i]);
      }
      const std::span<const double> all(cosines_);
      const double association = mean_of(all.first(num_a_)) - mean_of(all.subspan(num_a_));
      const double variance = variance_of(all);
      out_.association(sample, target) = association;
      out_.deviation(sample, target) = std::sqrt(variance);
      if (!std::isfinite(association)) {
        status = EffectStatus::not_finite;
      } else if (!(variance > least_variance) && status == EffectStatus::ok) {
        status = EffectStatus::zero_deviation;
      }
    }
    return status;
  }

  const TestInUse& test_;
  const VectorStore& store_;
  ContextsSamples& out_;
  std::size_t dimension_;
  std::size_t num_x_;
  std::size_t num_a_;
  std::vector<std::uint32_t> places_;  ///< words of X, Y, A, B
  std::vector<Drawn> drawn_;
  std::span<const Drawn> targets_;     ///< of these
  std::span<const Drawn> attributes_;  ///< of these
  std::vector<double> contrast_;
  std::vector<double> units_;
  std::vector<double> cosines_;
};

std::string json_of(const std::vector<std::string>& words) { return base::Json(words).dump(); }

std::string json_of(const std::array<std::vector<std::string>, 4>& sets) { return json_of(base::joined(sets)); }

results::AxisSchema test_axis(const std::vector<TestInUse>& tests, const std::vector<WordVectors>& words) {
  const auto set = [](const char* role, const char* long_name, const WordSet EmbeddingTest::*member) {
    return AxisText<TestInUse>{role, long_name, [member](const auto& used) { return (used.test.*member).label; }};
  };
  const auto words_of = [&](std::size_t role) {
    const auto read = [&words, role](const TestInUse& used) {
      return json_of(base::mapped(used.sets[role], [&](auto place) { return words[place].word; }));
    };
    return AxisText<TestInUse>{std::string(set_role_names[role]) + "_words", "words of the set that take part (JSON)",
                               read};
  };
  return axis_of(
      "test", "association test", tests, [](const auto& used) { return used.test.label; },
      {{"kind", "weat: two sets of targets; wefat: one", [](const auto& used) { return name_of(used.test.kind); }},
       {"title", "title", [](const auto& used) { return used.test.title; }},
       set("x", "target set X", &EmbeddingTest::x),
       set("y", "target set Y", &EmbeddingTest::y),
       set("a", "attribute set A", &EmbeddingTest::a),
       set("b", "attribute set B", &EmbeddingTest::b),
       words_of(0),
       words_of(1),
       words_of(2),
       words_of(3),
       {"missing", "words without a vector (JSON)", [](const auto& used) { return json_of(used.missing); }},
       {"trimmed", "words left out so that sets are of one size (JSON)",
        [](const auto& used) { return json_of(used.trimmed); }},
       {"consequence", "what missing and trimmed words change", &TestInUse::consequence}});
}

/// Template and rephrasing of every sample, and the status of those in which no target stands.
void add_frames(results::RawSchema& schema, const Corpus& corpus, const std::vector<std::uint32_t>& frames) {
  auto& samples = schema.outer_axes[1];
  samples.coordinates = {{"template", "template of the sample's sentences", {}},
                         {"rephrasing", "rephrasing of the sample's sentences", {}}};
  for (std::size_t sample = 0; sample < samples.labels.size(); ++sample) {
    const auto frame = frames[sample % frames.size()];
    samples.coordinates[0].values.push_back(corpus.templates.at(frame / corpus.rephrasings.size()).label);
    samples.coordinates[1].values.push_back(corpus.rephrasings.at(frame % corpus.rephrasings.size()).label);
  }
  schema.cubes.at(*schema.find_cube("status")).flag_meanings.emplace_back("no_sentence");
}

}  // namespace

std::vector<results::CubeSchema> sample_cubes(EmbeddingTest::Kind kind) {
  std::vector<results::CubeSchema> cubes = {
      cube("association", ElementType::float64, {"target"}, "1", "association of the target word with A against B",
           "mean cosine with the words of A minus mean cosine with those of B"),
      cube("effect_size", ElementType::float64, {}, "1", "effect size of the draw",
           "(mean association of X minus that of Y) over the standard deviation (ddof 1) in X and Y; NaN for wefat"),
      cube("association_variance", ElementType::float64, {}, "1", "variance of the associations in X and Y",
           "ddof 1, cosine squared: the published in-sample variance; NaN for wefat"),
      cube("status", ElementType::uint8, {}, "", "why the effect size is what it is", "",
           {"ok", "missing_words", "zero_deviation", "not_finite"}),
      cube("attribute_association", ElementType::float64, {"weat_attribute"}, "1",
           "association of the attribute word with X against Y",
           "mean cosine with the words of X minus mean cosine with those of Y: what relabelling the attribute words of "
           "a weat test needs; NaN for wefat"),
  };
  if (kind == EmbeddingTest::Kind::wefat) {
    cubes.push_back(cube("association_deviation", ElementType::float64, {"target"}, "1",
                         "standard deviation of the target's cosines with A and B",
                         "ddof 1; its effect is association over this; NaN for weat"));
    cubes.push_back(cube("cosine", ElementType::float32, {"target", "attribute"}, "1",
                         "cosine of the target word with the attribute word",
                         "what relabelling the attribute words needs; NaN for weat"));
  }
  return cubes;
}

results::RawSchema effects_schema(const std::vector<TestInUse>& tests, const std::vector<WordVectors>& words,
                                  std::uint64_t samples) {
  std::size_t slots = 1;
  std::size_t weat_attributes = 1;
  std::size_t attributes = 0;  // of wefat tests
  for (const auto& used : tests) {
    slots = std::max(slots, used.places(SetRole::x).size() + used.places(SetRole::y).size());
    auto& most = used.test.is_weat() ? weat_attributes : attributes;
    most = std::max({most, std::size_t{1}, used.places(SetRole::a).size() + used.places(SetRole::b).size()});
  }
  results::RawSchema schema;
  schema.outer_axes = {test_axis(tests, words), numbered_axis("sample", "draw of one context per word", samples)};
  schema.inner_axes = {
      numbered_axis("target", "target word: those of X, then those of Y", slots),
      numbered_axis("weat_attribute", "attribute word of a weat test: those of A, then those of B", weat_attributes),
      word_axis(words)};
  schema.cubes = sample_cubes(attributes > 0 ? EmbeddingTest::Kind::wefat : EmbeddingTest::Kind::weat);
  if (attributes > 0) {
    schema.inner_axes.push_back(
        numbered_axis("attribute", "attribute word of a wefat test: those of A, then those of B", attributes));
  }
  return schema;
}

std::vector<std::string> words_of_coordinate(const std::string& json) {
  const std::string name = "a coordinate of axis test";
  const base::JsonDocument words{name, base::parse_json(json, name)};
  return words.value().texts();
}

ContextsSamples::ContextsSamples(results::RawBlock samples, const results::RawSchema& schema)
    : block(std::move(samples)) {
  const auto open = [&]<class Number>(SampleCube<Number>& cube, const char* name) {
    if (const auto place = schema.find_cube(name)) {
      const auto lengths = base::mapped(schema.cubes[*place].inner_axes,
                                        [&](const auto& axis) { return schema.inner_axis(axis).labels.size(); });
      cube = {column_named<Number>(block, schema, name), lengths.empty() ? 1 : lengths[0],
              lengths.size() < 2 ? 1 : lengths[1]};
    }
  };
  open(status, "status");
  open(association, "association");
  open(attribute_association, "attribute_association");
  open(effect_size, "effect_size");
  open(association_variance, "association_variance");
  open(deviation, "association_deviation");
  open(cosine, "cosine");
}

EffectsProbe::EffectsProbe(const sweep::Job& job, std::vector<WordVectors> words,
                           std::shared_ptr<const VectorStore> store)
    : seed_(job.draws() ? job.seed : 0),
      draws_(job.settings<Contexts>().sample_draws),
      said_(settings_of_effects(job.settings<Contexts>())),
      words_(std::move(words)),
      store_(std::move(store)),
      tests_(tests_in_use(job.settings<Contexts>(), job.seed, words_)),
      blocks_(sweep::Product({tests_.size(), static_cast<std::uint64_t>(job.settings<Contexts>().samples)}),
              samples_per_block),
      schema_(effects_schema(tests_, words_, static_cast<std::uint64_t>(job.settings<Contexts>().samples))) {
  word_names_ = base::mapped(words_, [](const auto& word) { return draw_name(word.word); });
  std::set<std::uint32_t> frames;
  for (const auto& word : words_) {
    auto& of_frames = vectors_of_frames_.emplace_back();
    for (std::uint64_t vector = 0; vector < word.frames.size(); ++vector) {
      of_frames[word.frames[vector]].push_back(vector);
      frames.insert(word.frames[vector]);
    }
  }
  frames_.assign(frames.begin(), frames.end());
  if (!frames_.empty()) {
    add_frames(schema_, job.settings<Contexts>().contextual().corpus, frames_);
  }
}

std::uint64_t EffectsProbe::draw(std::uint64_t seed, std::uint32_t test_name, std::uint64_t sample,
                                 std::uint32_t word_name, std::uint64_t count) {
  return base::philox_below(count, {.seed = seed,
                                    .purpose = base::Purpose::context_of_word,
                                    .test = test_name,
                                    .sample = static_cast<std::uint32_t>(sample),
                                    .word = word_name});
}

std::optional<std::uint64_t> EffectsProbe::drawn(std::uint32_t test_name, std::uint64_t sample,
                                                 std::uint32_t word) const {
  if (frames_.empty()) {
    return draw(seed_, test_name, sample, word_names_[word], store_->count(word));
  }
  const auto found = vectors_of_frames_[word].find(frames_[sample % frames_.size()]);
  return found == vectors_of_frames_[word].end()
             ? std::nullopt
             : std::optional(found->second[draw(seed_, test_name, sample, word_names_[word], found->second.size())]);
}

results::RawBlock EffectsProbe::fold(const sweep::Block& block, const Transcript& /*transcript*/) const {
  STEREOSWEEP_ASSERT(store_ != nullptr, "effects need the vectors");
  ContextsSamples samples(results::unscored_block(schema_, block.num_contexts), schema_);
  std::ranges::fill(samples.status.values, static_cast<std::uint8_t>(EffectStatus::missing_words));
  const auto at = blocks_.product().coordinates(block.first_context);
  const auto& test = tests_[at[0]];
  if (test.is_possible) {
    Sampler sampler(test, *store_, samples);
    const auto test_name = draw_name(draws_ == SampleDraws::shared ? "" : test.test.label);
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      sampler.compute(i, [&](std::uint32_t place) { return drawn(test_name, at[1] + i, place); });
    }
  }
  return std::move(samples.block);
}

void EffectsProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  const auto at = blocks_.product().coordinates(block.first_context);
  const auto& test = tests_[at[0]];
  hash.field("contexts.effects 4").field(said_).number(seed_).field(test.test.label).number(at[1]);
  const auto length = [&](const char* axis) { return schema_.inner_axis(axis).labels.size(); };
  hash.number(static_cast<std::uint64_t>(test.test.kind)).number(length("target")).number(length("weat_attribute"));
  hash.number(schema_.find_cube("cosine") ? length("attribute") : 0);
  if (draws_ == SampleDraws::shared) {
    hash.field("shared draws");
  }
  for (const auto& set : test.sets) {
    hash.number(set.size());
    for (const auto place : set) {
      hash.field(words_[place].word).number(words_[place].usable);
      hash.update(std::as_bytes(std::span(words_[place].digest)));
      hash.update(std::as_bytes(std::span(words_[place].frames)));
    }
  }
  hash.update(std::as_bytes(std::span(frames_)));
}

}  // namespace stereosweep::probes::contexts
