#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/association/Association.hpp"
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

using query::SetDistance;
using query::SlotAnswer;

/// An answered subword: a target of its mask.
struct AnsweredSubword {
  std::size_t at = 0;  ///< in cubes of one number per subword
  const SlotAnswer* slot = nullptr;
  std::size_t target = 0;
};

/// Puts what `read` gives of each into its place.
template <auto read>
void put(results::RawColumn& column, std::span<const AnsweredSubword> answered) {
  auto& values = std::get<std::vector<std::invoke_result_t<decltype(read), const SlotAnswer&, std::size_t>>>(column);
  for (const auto& [at, slot, target] : answered) {
    values[at] = read(*slot, target);
  }
}
template <auto member>
constexpr auto put_distance = put<[](const SlotAnswer& slot, std::size_t target) { return slot.set[target].*member; }>;

/// A cube of one number per subword.
struct NumberCube {
  std::optional<Measure> measure;  ///< what asks for it; nothing: every measure
  const char* name;
  ElementType type;
  const char* units;
  const char* long_name;
  const char* bias;
  void (*put)(results::RawColumn& column, std::span<const AnsweredSubword> answered);
};
constexpr const char* augmented = "the decoder's bias is one more column and may move (published code); ";
constexpr const char* fixed = "the decoder's bias is left out; ";
constexpr const char* distance = "Frobenius norm of the least change of the decoder that makes the subword win by 1";
constexpr const char* threshold = "logit to which the competitors are cut";
constexpr const char* active = "number of competitors that move; -1: not scored";
constexpr auto reals = ElementType::float64;
constexpr auto whole = ElementType::int32;
constexpr NumberCube number_cubes[] = {
    {std::nullopt, "logprob", reals, "nat", "log-probability of the subword", "",
     put<[](const SlotAnswer& slot, std::size_t target) { return slot.logprob[target]; }>},
    {Measure::ilps_star, "log_mass_initial", reals, "nat",
     "ln of the probability of all word-initial tokens at the subword's place", "",
     put<[](const SlotAnswer& slot, std::size_t /*target*/) { return slot.log_mass_initial; }>},
    {Measure::ilps_star, "log_mass_continuation", reals, "nat",
     "ln of the probability of all continuation tokens at the subword's place", "",
     put<[](const SlotAnswer& slot, std::size_t /*target*/) { return slot.log_mass_continuation; }>},
    {Measure::set, "set_distance_bias", reals, "1", distance, augmented, put_distance<&SetDistance::distance_bias>},
    {Measure::set, "set_distance_plain", reals, "1", distance, fixed, put_distance<&SetDistance::distance_plain>},
    {Measure::set, "set_threshold_bias", reals, "1", threshold, augmented, put_distance<&SetDistance::threshold_bias>},
    {Measure::set, "set_threshold_plain", reals, "1", threshold, fixed, put_distance<&SetDistance::threshold_plain>},
    {Measure::set, "set_active_bias", whole, "1", active, augmented, put_distance<&SetDistance::active_bias>},
    {Measure::set, "set_active_plain", whole, "1", active, fixed, put_distance<&SetDistance::active_plain>},
};

std::vector<results::CubeSchema> list_cubes(const Measures& measures) {
  std::vector<results::CubeSchema> cubes;
  for (const auto& one : number_cubes) {
    if (!one.measure || base::contains(measures, *one.measure)) {
      const std::string description =
          std::string(one.bias) + "subwords before it stand in their places, later ones are masked";
      cubes.push_back(cube(one.name, one.type, {"word", "subword"}, one.units, one.long_name, description));
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

CellStatus status_of(const SetDistance& set) {
  if (set.status_bias == query::SetStatus::not_certified || set.status_plain == query::SetStatus::not_certified) {
    return CellStatus::set_not_certified;
  }
  if (!std::isfinite(set.distance_bias) || !std::isfinite(set.distance_plain)) {
    return CellStatus::not_finite;
  }
  const bool reaches_one = set.distance_bias >= 1 || set.distance_plain >= 1;
  return reaches_one ? CellStatus::set_distance_reaches_one : CellStatus::ok;
}

/// Of a subword: `target` of the slot.
CellStatus status_of(const SlotAnswer& slot, std::size_t target, std::size_t subword, const Measures& measures) {
  bool is_good = std::isfinite(slot.logprob[target]);
  if (base::contains(measures, Measure::ilps_star)) {
    // The other mass may be -inf: a vocabulary without continuation tokens is no fault.
    const double read = subword == 0 ? slot.log_mass_initial : slot.log_mass_continuation;
    is_good = is_good && std::isfinite(read) && !std::isnan(slot.log_mass_initial + slot.log_mass_continuation);
  }
  const auto status = is_good ? CellStatus::ok : CellStatus::not_finite;
  return base::contains(measures, Measure::set) ? std::max(status, status_of(slot.set[target])) : status;
}

/// In place of a group where only the word matters: so that a group added later does not move the subword axis.
sweep::Subject generic_subject(const sweep::Priors& priors) {
  sweep::Subject subject;
  subject.kind = sweep::SubjectKind::prior_word;
  subject.singular = priors.word_singular;
  subject.plural = priors.word_plural;
  subject.article = "a";
  return subject;
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

std::string AssociationProbe::masked_text(const ContextView& view, std::uint32_t num_masks) const {
  auto text = view.text.before;
  for (std::uint32_t i = 0; i < num_masks; ++i) {
    text += mask_token_;
  }
  return text + view.text.after;
}

Round AssociationProbe::first(const sweep::Block& block) const {
  Round round;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const ContextView view = this->view(blocks_.context(block, i));
    if (view.targets == nullptr) {
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
  const std::span answers = transcript.answers.front();
  auto raw = results::unscored_block(schema_, block.num_contexts);
  std::ranges::fill(column_named<std::int32_t>(raw, schema_, "num_subwords"), 0);
  std::size_t next_answer = 0;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const ContextView view = this->view(blocks_.context(block, i));
    if (view.targets == nullptr) {
      auto& statuses = column_named<std::uint8_t>(raw, schema_, "status");
      std::fill_n(statuses.begin() + static_cast<std::ptrdiff_t>(i * words_.size()), words_.size(),
                  static_cast<std::uint8_t>(CellStatus::no_form));
      column_named<std::string>(raw, schema_, "problem")[i] = view.problem;
      continue;
    }
    const auto num_asks = view.targets->asks.size();
    STEREOSWEEP_ASSERT(next_answer + num_asks <= answers.size(), "one answer per query");
    fold_context(raw, i, view, answers.subspan(next_answer, num_asks));
    next_answer += num_asks;
  }
  STEREOSWEEP_ASSERT(next_answer == answers.size(), "one answer per query");
  return raw;
}

const SlotAnswer& AssociationProbe::slot_of(const ContextView& view, const Ask& ask,
                                            const query::Answer& answer) const {
  const auto* fill = std::get_if<query::FillAnswer>(&answer);
  STEREOSWEEP_ASSERT(fill != nullptr, "a fill query has a fill answer");
  STEREOSWEEP_ASSERT(fill->slots.size() == view.masks_before + ask.num_masks + view.masks_after, "an answer per mask");
  const auto& slot = fill->slots[view.masks_before + ask.prefix.size()];
  STEREOSWEEP_ASSERT(slot.logprob.size() == ask.targets.size(), "a log-probability per target");
  STEREOSWEEP_ASSERT(!base::contains(settings_.measures, Measure::set) || slot.set.size() == ask.targets.size(),
                     "a distance per target");
  return slot;
}

void AssociationProbe::fold_context(results::RawBlock& raw, std::size_t context, const ContextView& view,
                                    std::span<const query::Answer> answers) const {
  column_named<std::string>(raw, schema_, "prompt")[context] = view.text.before + "{trait}" + view.text.after;
  auto& problem = column_named<std::string>(raw, schema_, "problem")[context];
  std::vector<const SlotAnswer*> slots(answers.size());  // null: the engine failed
  std::vector<std::uint8_t> failures(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!has_failed<CellStatus>(answers[i], failures[i], problem)) {
      slots[i] = &slot_of(view, view.targets->asks[i], answers[i]);
    }
  }
  auto& counts = column_named<std::int32_t>(raw, schema_, "num_subwords");
  auto& statuses = column_named<std::uint8_t>(raw, schema_, "status");
  const auto num_subwords = schema_.inner_axis("subword").labels.size();
  std::vector<AnsweredSubword> answered;
  for (std::size_t word = 0; word < words_.size(); ++word) {
    const auto& targets = view.targets->words[word];
    const auto cell = context * words_.size() + word;
    counts[cell] = targets.num_subwords;
    statuses[cell] = static_cast<std::uint8_t>(targets.status);
    for (std::size_t subword = 0; subword < targets.places.size(); ++subword) {
      const auto [ask, target] = targets.places[subword];
      if (ask == Place::nowhere) {
        continue;
      }
      auto status = failures[ask];
      if (slots[ask] != nullptr) {
        answered.push_back({cell * num_subwords + subword, slots[ask], target});
        status = static_cast<std::uint8_t>(status_of(*slots[ask], target, subword, settings_.measures));
      }
      statuses[cell] = std::max(statuses[cell], status);
    }
  }
  for (const auto& cube : number_cubes) {
    if (const auto place = schema_.find_cube(cube.name)) {
      cube.put(raw.columns[*place], answered);
    }
  }
}

void AssociationProbe::hash_content(const sweep::Block& block, base::Sha256& hash) const {
  hash.field("association 2").field(settings_of_block(settings_)).field(mask_token_);
  hash.number(schema_.inner_axis("subword").labels.size()).number(words_.size());
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
  const auto& settings = job.settings<Association>();
  require_axis(settings.axes.groups.size() + settings.priors.word + settings.priors.mask, "axes.groups",
               "group and no prior", problems);
  if (!tokenizer.mask_token() || !tokenizer.mask_id()) {
    problems.add({.file = "", .line = 0, .key = "model.path"}, "the tokenizer has no mask token",
                 "association asks a masked language model", "use a BERT or RoBERTa checkpoint");
  } else if (problems.empty()) {
    check_masks(settings, *tokenizer.mask_token(), problems);
  }
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<AssociationProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::association
