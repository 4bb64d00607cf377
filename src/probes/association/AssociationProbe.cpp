#include "probes/association/AssociationProbe.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/Visits.hpp"
#include "results/Export.hpp"

namespace stereosweep::probes::association {
namespace {

using results::ElementType;

/// Longest subword axis: a longer word gets a status, not a cube of its own size.
constexpr std::uint32_t longest_axis = 32;
/// Beyond this many pairs of template and rephrasing only one of each is tried with all of the other.
constexpr std::size_t max_pairs_tried = 20'000;

std::string kind_of(const sweep::Subject& subject) {
  const char* names[] = {"prior_word", "prior_mask", "group", "intersection"};
  return names[static_cast<std::size_t>(subject.kind)];
}

results::AxisSchema group_axis(const std::vector<sweep::Subject>& subjects) {
  return axis_of("group", "what stands in the place of the group", subjects, &sweep::Subject::label,
                 {{"kind", "prior_word, prior_mask, group or intersection", kind_of},
                  {"domain", "domains of the components, in order, joined by +",
                   [](const auto& subject) { return base::join(subject.domains, "+"); }},
                  {"components", "labels of the groups it is made of, in order, joined by +",
                   [](const auto& subject) { return base::join(subject.components, "+"); }}});
}

results::AxisSchema template_axis(const std::vector<sweep::Template>& templates) {
  return axis_of("template", "sentence with a group and a trait", templates, &sweep::Template::label,
                 {{"kind", "kind of sentence", &sweep::Template::kind},
                  {"text", "text with its placeholders", &sweep::Template::text}});
}

results::AxisSchema rephrasing_axis(const std::vector<sweep::Rephrasing>& rephrasings) {
  return axis_of("rephrasing", "another way to say the prompt", rephrasings, &sweep::Rephrasing::label,
                 {{"wrapper", "text around the prompt; empty: full alternatives", &sweep::Rephrasing::wrapper}});
}

results::AxisSchema word_axis(const std::vector<WordEntry>& words) {
  return axis_of("word", "word that stands for a pole of a trait pair; may occur in several poles", words,
                 &WordEntry::word,
                 {{"pole", "pole the word stands for", &WordEntry::pole},
                  {"pair", "trait pair of the pole", &WordEntry::pair},
                  {"dimension", "dimension of the trait pair", &WordEntry::dimension},
                  {"side", "side of the pole in its pair: left = 0, right = 100 on rating scales", &WordEntry::side}});
}

/// A cube of one number per subword. `measure`: what asks for it; nothing: every measure.
struct NumberCube {
  std::optional<Measure> measure;
  const char* name;
  ElementType type;
  const char* units;
  const char* long_name;
  const char* bias;
};
constexpr const char* augmented = "the decoder's bias is one more column and may move (published code); ";
constexpr const char* fixed = "the decoder's bias is left out; ";
constexpr const char* distance = "Frobenius norm of the least change of the decoder that makes the subword win by 1";
constexpr const char* threshold = "logit to which the competitors are cut";
constexpr const char* active = "number of competitors that move; -1: not scored";
constexpr NumberCube number_cubes[] = {
    {std::nullopt, "logprob", ElementType::float64, "nat", "log-probability of the subword", ""},
    {Measure::ilps_star, "log_mass_initial", ElementType::float64, "nat",
     "ln of the probability of all word-initial tokens at the subword's place", ""},
    {Measure::ilps_star, "log_mass_continuation", ElementType::float64, "nat",
     "ln of the probability of all continuation tokens at the subword's place", ""},
    {Measure::set, "set_distance_bias", ElementType::float64, "1", distance, augmented},
    {Measure::set, "set_distance_plain", ElementType::float64, "1", distance, fixed},
    {Measure::set, "set_threshold_bias", ElementType::float64, "1", threshold, augmented},
    {Measure::set, "set_threshold_plain", ElementType::float64, "1", threshold, fixed},
    {Measure::set, "set_active_bias", ElementType::int32, "1", active, augmented},
    {Measure::set, "set_active_plain", ElementType::int32, "1", active, fixed},
};

std::vector<results::CubeSchema> list_cubes(const Measures& measures) {
  std::vector<results::CubeSchema> cubes;
  for (const auto& [measure, name, type, units, long_name, bias] : number_cubes) {
    if (!measure || base::contains(measures, *measure)) {
      const std::string description =
          std::string(bias) + "subwords before it stand in their places, later ones are masked";
      cubes.push_back(cube(name, type, {"word", "subword"}, units, long_name, description));
    }
  }
  cubes.push_back(cube("num_subwords", ElementType::int32, {"word"}, "1", "number of subwords of the word in this text",
                       "0: the tokenizer was not asked or makes nothing of the word"));
  cubes.push_back(cube("status", ElementType::uint8, {"word"}, "", "why the numbers are what they are",
                       "up to set_not_certified log-probabilities are good; above, numbers are missing",
                       cell_status_names));
  cubes.push_back(
      cube("prompt", ElementType::text, {}, "", "text that was scored", "{trait} marks the place of the word"));
  cubes.push_back(
      cube("problem", ElementType::text, {}, "", "first failure of the engine in this text", "empty: none"));
  return cubes;
}

/// Starts with nothing scored (NaN, -1, no subwords); contexts are added in any order.
class AssociationFold {
 public:
  AssociationFold(const results::RawSchema& schema, const Measures& measures, std::uint64_t num_contexts)
      : schema_(schema),
        has_masses_(base::contains(measures, Measure::ilps_star)),
        is_set_(base::contains(measures, Measure::set)),
        num_words_(schema.inner_axis("word").labels.size()),
        max_subwords_(schema.inner_axis("subword").labels.size()),
        block_(results::unscored_block(schema, num_contexts)) {
    std::fill_n(num_subwords_, num_contexts * num_words_, 0);
  }

  /// A context without texts: every cell gets `no_form`.
  void add_unasked(std::size_t context, const ContextView& view) {
    std::fill_n(status_ + context * num_words_, num_words_, static_cast<std::uint8_t>(CellStatus::no_form));
    problem_[context] = view.problem;
  }

  /// `answers`: one per ask of `view.targets`. Throws std::logic_error if their shape is not what was asked.
  void add(std::size_t context, const ContextView& view, std::span<const query::Answer> answers) {
    prompt_[context] = view.text.before + "{trait}" + view.text.after;
    auto& problem = problem_[context];
    std::vector<const query::SlotAnswer*> slots(answers.size(), nullptr);
    std::vector<std::uint8_t> failures(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (has_failed<CellStatus>(answers[i], failures[i], problem)) {
        continue;
      }
      const auto* fill = std::get_if<query::FillAnswer>(&answers[i]);
      STEREOSWEEP_ASSERT(fill != nullptr, "a fill query has a fill answer");
      slots[i] = &slot_of(view, view.targets->asks[i], *fill);
    }
    for (std::size_t w = 0; w < num_words_; ++w) {
      const WordTargets& word = view.targets->words[w];
      const std::size_t cell = context * num_words_ + w;
      CellStatus status = word.status;
      for (std::size_t subword = 0; subword < word.places.size(); ++subword) {
        const auto [ask, target] = word.places[subword];
        if (ask != Place::nowhere) {
          status = std::max(status, slots[ask] == nullptr
                                        ? static_cast<CellStatus>(failures[ask])
                                        : add_subword(cell * max_subwords_ + subword, subword, target, *slots[ask]));
        }
      }
      num_subwords_[cell] = word.num_subwords;
      status_[cell] = static_cast<std::uint8_t>(status);
    }
  }

  results::RawBlock take() { return std::move(block_); }

 private:
  const query::SlotAnswer& slot_of(const ContextView& view, const Ask& ask, const query::FillAnswer& answer) const {
    STEREOSWEEP_ASSERT(answer.slots.size() == view.masks_before + ask.num_masks + view.masks_after,
                       "an answer per mask");
    const auto& slot = answer.slots[view.masks_before + ask.prefix.size()];
    STEREOSWEEP_ASSERT(slot.logprob.size() == ask.targets.size(), "a log-probability per target");
    STEREOSWEEP_ASSERT(!is_set_ || slot.set.size() == ask.targets.size(), "a distance per target");
    return slot;
  }

  CellStatus add_subword(std::size_t place, std::size_t subword, std::size_t target, const query::SlotAnswer& slot) {
    logprob_[place] = slot.logprob[target];
    bool is_good = std::isfinite(slot.logprob[target]);
    if (has_masses_) {
      log_mass_initial_[place] = slot.log_mass_initial;
      log_mass_continuation_[place] = slot.log_mass_continuation;
      // The other mass may be -inf: a vocabulary without continuation tokens is no fault.
      const double read = subword == 0 ? slot.log_mass_initial : slot.log_mass_continuation;
      is_good = is_good && std::isfinite(read) && !std::isnan(slot.log_mass_initial + slot.log_mass_continuation);
    }
    const auto status = is_good ? CellStatus::ok : CellStatus::not_finite;
    return is_set_ ? std::max(status, add_set(place, slot.set[target])) : status;
  }

  CellStatus add_set(std::size_t place, const query::SetDistance& set) {
    distance_bias_[place] = set.distance_bias;
    distance_plain_[place] = set.distance_plain;
    threshold_bias_[place] = set.threshold_bias;
    threshold_plain_[place] = set.threshold_plain;
    active_bias_[place] = set.active_bias;
    active_plain_[place] = set.active_plain;
    if (set.status_bias == query::SetStatus::not_certified || set.status_plain == query::SetStatus::not_certified) {
      return CellStatus::set_not_certified;
    }
    if (!std::isfinite(set.distance_bias) || !std::isfinite(set.distance_plain)) {
      return CellStatus::not_finite;
    }
    const bool reaches_one = set.distance_bias >= 1 || set.distance_plain >= 1;
    return reaches_one ? CellStatus::set_distance_reaches_one : CellStatus::ok;
  }

  /// The column of a cube; null: not measured.
  template <class Value>
  Value* column(const std::string& name) {
    return schema_.find_cube(name) ? column_named<Value>(block_, schema_, name).data() : nullptr;
  }

  const results::RawSchema& schema_;
  const bool has_masses_;
  const bool is_set_;
  const std::size_t num_words_;
  const std::size_t max_subwords_;
  results::RawBlock block_;
  double* logprob_ = column<double>("logprob");
  double* log_mass_initial_ = column<double>("log_mass_initial");
  double* log_mass_continuation_ = column<double>("log_mass_continuation");
  double* distance_bias_ = column<double>("set_distance_bias");
  double* distance_plain_ = column<double>("set_distance_plain");
  double* threshold_bias_ = column<double>("set_threshold_bias");
  double* threshold_plain_ = column<double>("set_threshold_plain");
  std::int32_t* active_bias_ = column<std::int32_t>("set_active_bias");
  std::int32_t* active_plain_ = column<std::int32_t>("set_active_plain");
  std::int32_t* num_subwords_ = column<std::int32_t>("num_subwords");
  std::uint8_t* status_ = column<std::uint8_t>("status");
  std::string* prompt_ = column<std::string>("prompt");
  std::string* problem_ = column<std::string>("problem");
};

/// In place of a group where only the word matters: so that a group added later does not move the subword axis.
sweep::Subject generic_subject(const sweep::Priors& priors) {
  sweep::Subject subject;
  subject.kind = sweep::SubjectKind::prior_word;
  subject.singular = priors.word_singular;
  subject.plural = priors.word_plural;
  subject.article = "a";
  return subject;
}

void check_axes(const Association& settings, base::Problems& problems) {
  const auto& [axes, measures, priors, design, statistics] = settings;
  require_axis(axes.groups.size() + priors.word + priors.mask, "axes.groups", "group and no prior", problems);
  require_axis(list_words(axes.traits).size(), "axes.traits", "word of a trait", problems);
  require_axis(axes.templates.size(), "axes.templates", "template", problems);
  require_axis(axes.rephrasings.size(), "axes.rephrasings", "rephrasing", problems);
  require_axis(measures.size(), "measures", "measure", problems);
}

/// A mask in a text of the job would be taken for the word's or the group's place.
void check_masks(const Association& settings, const std::string& mask_token, base::Problems& problems) {
  const auto check = [&](const std::string& text, const std::string& key) {
    if (text.find(mask_token) != std::string::npos) {
      problems.add({.file = "", .line = 0, .key = key}, "'" + text + "' holds the model's mask token " + mask_token,
                   "masks stand for the trait and for the masked group only");
    }
  };
  for (const auto& subject : list_subjects(settings).subjects) {
    for (const auto* text : {&subject.singular, &subject.plural, &subject.article}) {
      check(*text, "axes.groups: " + subject.label);
    }
  }
  for (const auto& sentence : settings.axes.templates) {
    check(sentence.text, "axes.templates: " + sentence.label);
  }
  for (const auto& rephrasing : settings.axes.rephrasings) {
    check(rephrasing.wrapper, "axes.rephrasings: " + rephrasing.label);
    for (const auto& alternative : rephrasing.alternatives) {
      check(alternative.second, "axes.rephrasings: " + rephrasing.label);
    }
  }
  for (const auto& entry : list_words(settings.axes.traits)) {
    check(entry.word, "axes.traits: " + entry.pole);
  }
}

}  // namespace

std::vector<WordEntry> list_words(const std::vector<sweep::TraitPair>& traits) {
  std::vector<WordEntry> entries;
  for (const auto& pair : traits) {
    for (const auto& [pole, side] : {std::pair(&pair.left, "left"), std::pair(&pair.right, "right")}) {
      for (const auto& word : pole->words) {
        entries.push_back({word, pole->name, pair.label, pair.dimension, side});
      }
    }
  }
  return entries;
}

sweep::SubjectList list_subjects(const Association& settings) {
  const auto& axes = settings.axes;
  return sweep::list_subjects(axes.groups, axes.intersections, sweep::forms_of(axes.templates), settings.priors);
}

results::RawSchema association_schema(const Association& settings, const sweep::SubjectList& subjects,
                                      const std::vector<WordEntry>& words, std::uint32_t max_subwords) {
  const auto& axes = settings.axes;
  return {{group_axis(subjects.subjects), template_axis(axes.templates), rephrasing_axis(axes.rephrasings)},
          subjects.num_priors,
          {word_axis(words), numbered_axis("subword", "subword of the word, from left to right", max_subwords)},
          list_cubes(settings.measures)};
}

AssociationProbe::AssociationProbe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer)
    : settings_(job.settings<Association>()),
      mask_token_(tokenizer.mask_token().value_or("")),
      subjects_(list_subjects(settings_)),
      words_(list_words(settings_.axes.traits)),
      plans_(std::make_unique<PlanCache>(tokenizer, base::mapped(words_, &WordEntry::word), settings_.measures,
                                         longest_axis)),
      schema_(association_schema(settings_, subjects_, words_, longest_word())),
      blocks_(blocks_to_ask(job, schema_)) {
  const auto max_subwords = static_cast<std::uint32_t>(schema_.inner_axis("subword").labels.size());
  plans_ = std::make_unique<PlanCache>(tokenizer, plans_->words(WordCase::as_listed), settings_.measures, max_subwords);
}

std::uint32_t AssociationProbe::longest_word() const {
  const auto& templates = settings_.axes.templates;
  const auto& rephrasings = settings_.axes.rephrasings;
  const sweep::Subject subject = generic_subject(settings_.priors);
  const bool all = templates.size() <= max_pairs_tried / std::max<std::size_t>(rephrasings.size(), 1);
  std::int32_t longest = 1;
  for (std::size_t t = 0; t < templates.size(); ++t) {
    for (std::size_t r = 0; r < rephrasings.size(); ++r) {
      if (!all && t > 0 && r > 0) {
        break;
      }
      const ContextView view = view_of(subject, templates[t], rephrasings[r]);
      for (std::size_t word = 0; view.targets != nullptr && word < words_.size(); ++word) {
        if (view.targets->words[word].status == CellStatus::ok) {
          longest = std::max(longest, view.targets->words[word].num_subwords);
        }
      }
    }
  }
  return static_cast<std::uint32_t>(longest);
}

ContextView AssociationProbe::view_of(const sweep::Subject& subject, const sweep::Template& sentence,
                                      const sweep::Rephrasing& rephrasing) const {
  ContextView view;
  const bool is_singular = sentence.form == sweep::NounForm::singular;
  const bool is_mask = subject.kind == sweep::SubjectKind::prior_mask;
  if (!is_mask && (is_singular ? subject.singular : subject.plural).empty()) {
    view.problem = base::describe("'" + subject.label + "' has no " + (is_singular ? "singular" : "plural"),
                                  "the template '" + sentence.label + "' asks for it");
    return view;
  }
  auto composed = sweep::compose(subject, sentence, rephrasing, mask_token_);
  view.text = {.before = std::move(composed.before), .after = std::move(composed.after)};
  view.word_case = composed.capitalise_trait ? WordCase::capitalised : WordCase::as_listed;
  view.masks_before = base::count_of(view.text.before, mask_token_);
  view.masks_after = base::count_of(view.text.after, mask_token_);
  view.targets = plans_->find(view.text, view.word_case);
  return view;
}

ContextView AssociationProbe::view(std::uint64_t context) const {
  const auto place = blocks_.product().coordinates(context);
  return view_of(subjects_.subjects[place[0]], settings_.axes.templates[place[1]],
                 settings_.axes.rephrasings[place[2]]);
}

AssociationProbe::BlockViews AssociationProbe::views_of(const sweep::Block& block) const {
  BlockViews result;
  result.views.reserve(block.num_contexts);
  std::unordered_map<std::string, std::size_t> seen;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const ContextView& view = result.views.emplace_back(this->view(blocks_.context(block, i)));
    std::string key = view.text.before;
    key.append(1, '\0').append(view.text.after).append(view.word_case == WordCase::capitalised ? "C" : "l");
    const bool is_asked = view.targets != nullptr;
    result.same_as.push_back(is_asked ? seen.emplace(std::move(key), i).first->second : i);
  }
  return result;
}

std::string AssociationProbe::masked_text(const ContextView& view, std::uint32_t num_masks) const {
  std::string text;
  text.reserve(view.text.before.size() + num_masks * mask_token_.size() + view.text.after.size());
  text = view.text.before;
  for (std::uint32_t i = 0; i < num_masks; ++i) {
    text += mask_token_;
  }
  return text += view.text.after;
}

Round AssociationProbe::first(const sweep::Block& block) const {
  Round round;
  const BlockViews block_views = views_of(block);
  for (std::size_t i = 0; i < block_views.views.size(); ++i) {
    const ContextView& view = block_views.views[i];
    if (view.targets == nullptr || block_views.same_as[i] != i) {
      continue;
    }
    for (const Ask& ask : view.targets->asks) {
      query::Fill fill;
      fill.text = masked_text(view, ask.num_masks);
      fill.slots.resize(view.masks_before + ask.num_masks + view.masks_after);
      for (std::size_t filled = 0; filled < ask.prefix.size(); ++filled) {
        fill.slots[view.masks_before + filled].filled = ask.prefix[filled];
      }
      fill.slots[view.masks_before + ask.prefix.size()].targets = ask.targets;
      fill.class_masses = base::contains(settings_.measures, Measure::ilps_star);
      fill.set_distances = base::contains(settings_.measures, Measure::set);
      round.queries.emplace_back(std::move(fill));
    }
  }
  return round;
}

results::RawBlock AssociationProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  STEREOSWEEP_ASSERT(transcript.answers.size() == 1, "one round of answers");
  const auto& answers = transcript.answers.front();
  const BlockViews block_views = views_of(block);
  AssociationFold fold(schema_, settings_.measures, block.num_contexts);
  std::vector<std::size_t> first_answer(block_views.views.size());
  std::size_t next_answer = 0;
  for (std::size_t i = 0; i < block_views.views.size(); ++i) {
    const ContextView& view = block_views.views[i];
    if (view.targets == nullptr) {
      fold.add_unasked(i, view);
      continue;
    }
    const std::size_t same = block_views.same_as[i];
    first_answer[i] = same == i ? next_answer : first_answer[same];
    STEREOSWEEP_ASSERT(first_answer[i] + view.targets->asks.size() <= answers.size(), "one answer per query");
    fold.add(i, view, std::span(answers).subspan(first_answer[i], view.targets->asks.size()));
    next_answer += same == i ? view.targets->asks.size() : 0;
  }
  STEREOSWEEP_ASSERT(next_answer == answers.size(), "one answer per query");
  return fold.take();
}

void AssociationProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  hash.field("association 2").field(settings_of_block(settings_)).field(mask_token_);
  hash.number(plans_->max_subwords()).number(words_.size());
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const ContextView view = this->view(blocks_.context(block, i));
    hash.number(view.targets == nullptr ? 0 : 1);
    if (view.targets == nullptr) {
      hash.field(view.problem);
      continue;
    }
    hash.field(view.text.before).field(view.text.after).number(view.masks_before).number(view.masks_after);
    hash.update(std::as_bytes(std::span(view.targets->digest)));
  }
}

std::unique_ptr<AssociationProbe> make_association(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  base::Problems problems;
  check_axes(job.settings<Association>(), problems);
  if (!tokenizer.mask_token() || !tokenizer.mask_id()) {
    problems.add({.file = "", .line = 0, .key = "model.path"}, "the tokenizer has no mask token",
                 "association asks a masked language model", "use a BERT or RoBERTa checkpoint");
  } else if (problems.empty()) {
    check_masks(job.settings<Association>(), *tokenizer.mask_token(), problems);
  }
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<AssociationProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::association
