#include "probes/association/AssociationProbe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "probes/association/Association.hpp"

namespace stereosweep::probes::association {

namespace {

/// Starts with nothing scored (NaN, -1, no subwords); contexts are added in any order.
class AssociationFold {
 public:
  AssociationFold(const results::RawSchema& schema, const AssociationColumns& columns, const Measures& measures,
                  std::uint64_t num_contexts);
  /// A context without texts: every cell gets `no_form`.
  void add_unasked(std::size_t context, const ContextView& view);
  /// `answers`: one per ask of `view.targets`. Throws std::logic_error if their shape is not what was asked.
  void add(std::size_t context, const ContextView& view, std::span<const query::Answer> answers);
  results::RawBlock take() { return std::move(block_); }

 private:
  CellStatus add_subword(std::size_t place, std::size_t subword, std::size_t target, const query::SlotAnswer& slot);
  CellStatus add_set(std::size_t place, const query::SetDistance& set);
  const query::SlotAnswer& slot_of(const ContextView& view, const Ask& ask, const query::FillAnswer& answer) const;
  double* numbers(Number name) { return numbers_[static_cast<int>(name)]; }

  const AssociationColumns columns_;
  const Measures measures_;
  results::RawBlock block_;
  std::size_t num_words_ = 0;
  std::size_t max_subwords_ = 0;
  double* numbers_[9] = {};  ///< into block_; null: not measured
  std::int32_t* active_bias_ = nullptr;
  std::int32_t* active_plain_ = nullptr;
};

}  // namespace

namespace {

results::RawColumn empty_column(results::ElementType type, std::size_t count) {
  switch (type) {
    case results::ElementType::float64:
      return std::vector<double>(count, std::numeric_limits<double>::quiet_NaN());
    case results::ElementType::float32:
      return std::vector<float>(count, std::numeric_limits<float>::quiet_NaN());
    case results::ElementType::int32:
      return std::vector<std::int32_t>(count, -1);
    case results::ElementType::uint8:
      return std::vector<std::uint8_t>(count, 0);
    case results::ElementType::text:
      break;
  }
  return std::vector<std::string>(count);
}

CellStatus worse(CellStatus left, CellStatus right) { return std::max(left, right); }

}  // namespace

AssociationFold::AssociationFold(const results::RawSchema& schema, const AssociationColumns& columns,
                                 const Measures& measures, std::uint64_t num_contexts)
    : columns_(columns), measures_(measures) {
  num_words_ = schema.inner_axis("word").labels.size();
  max_subwords_ = schema.inner_axis("subword").labels.size();
  for (const auto& cube : schema.cubes) {
    block_.columns.push_back(empty_column(cube.type, num_contexts * schema.values_per_context(cube)));
  }
  for (int number = 0; number < 9; ++number) {
    const int column = columns_.number[number];
    if (column >= 0) {
      auto* values = std::get_if<std::vector<double>>(&block_.columns[column]);
      numbers_[number] = values == nullptr ? nullptr : values->data();
    }
  }
  if (measures_.set) {
    active_bias_ = std::get<std::vector<std::int32_t>>(block_.columns[columns_.of(Number::set_active_bias)]).data();
    active_plain_ = std::get<std::vector<std::int32_t>>(block_.columns[columns_.of(Number::set_active_plain)]).data();
  }
  auto& subwords = std::get<std::vector<std::int32_t>>(block_.columns[columns_.num_subwords]);
  std::fill(subwords.begin(), subwords.end(), 0);
}

void AssociationFold::add_unasked(std::size_t context, const ContextView& view) {
  auto& status = std::get<std::vector<std::uint8_t>>(block_.columns[columns_.status]);
  const auto begin = status.begin() + static_cast<std::ptrdiff_t>(context * num_words_);
  std::fill_n(begin, num_words_, static_cast<std::uint8_t>(CellStatus::no_form));
  std::get<std::vector<std::string>>(block_.columns[columns_.problem])[context] = view.problem;
}

const query::SlotAnswer& AssociationFold::slot_of(const ContextView& view, const Ask& ask,
                                                  const query::FillAnswer& answer) const {
  STEREOSWEEP_ASSERT(answer.slots.size() == view.masks_before + ask.num_masks + view.masks_after, "an answer per mask");
  const auto& slot = answer.slots[view.masks_before + ask.prefix.size()];
  STEREOSWEEP_ASSERT(slot.logprob.size() == ask.targets.size(), "a log-probability per target");
  STEREOSWEEP_ASSERT(!measures_.set || slot.set.size() == ask.targets.size(), "a distance per target");
  return slot;
}

void AssociationFold::add(std::size_t context, const ContextView& view, std::span<const query::Answer> answers) {
  std::get<std::vector<std::string>>(block_.columns[columns_.prompt])[context] =
      view.text.before + "{trait}" + view.text.after;
  auto& problem = std::get<std::vector<std::string>>(block_.columns[columns_.problem])[context];
  auto* subwords = std::get<std::vector<std::int32_t>>(block_.columns[columns_.num_subwords]).data();
  auto* statuses = std::get<std::vector<std::uint8_t>>(block_.columns[columns_.status]).data();
  std::vector<const query::SlotAnswer*> slots(answers.size(), nullptr);
  std::vector<CellStatus> failures(answers.size(), CellStatus::ok);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (const auto* error = std::get_if<query::QueryError>(&answers[i])) {
      failures[i] = error->fault == query::QueryFault::too_long ? CellStatus::too_long : CellStatus::engine_error;
      problem = problem.empty() ? error->message : problem;
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
      const Place& place = word.places[subword];
      if (place.ask == Place::nowhere) {
        continue;
      }
      const bool failed = slots[place.ask] == nullptr;
      status =
          worse(status, failed ? failures[place.ask]
                               : add_subword(cell * max_subwords_ + subword, subword, place.target, *slots[place.ask]));
    }
    subwords[cell] = word.num_subwords;
    statuses[cell] = static_cast<std::uint8_t>(status);
  }
}

CellStatus AssociationFold::add_subword(std::size_t place, std::size_t subword, std::size_t target,
                                        const query::SlotAnswer& slot) {
  numbers(Number::logprob)[place] = slot.logprob[target];
  CellStatus status = std::isfinite(slot.logprob[target]) ? CellStatus::ok : CellStatus::not_finite;
  if (measures_.ilps_star) {
    numbers(Number::log_mass_initial)[place] = slot.log_mass_initial;
    numbers(Number::log_mass_continuation)[place] = slot.log_mass_continuation;
    // The other mass may be -inf: a vocabulary without continuation tokens is no fault.
    const double read = subword == 0 ? slot.log_mass_initial : slot.log_mass_continuation;
    const bool is_good = std::isfinite(read) && !std::isnan(slot.log_mass_initial + slot.log_mass_continuation);
    status = worse(status, is_good ? CellStatus::ok : CellStatus::not_finite);
  }
  return measures_.set ? worse(status, add_set(place, slot.set[target])) : status;
}

CellStatus AssociationFold::add_set(std::size_t place, const query::SetDistance& set) {
  numbers(Number::set_distance_bias)[place] = set.distance_bias;
  numbers(Number::set_distance_plain)[place] = set.distance_plain;
  numbers(Number::set_threshold_bias)[place] = set.threshold_bias;
  numbers(Number::set_threshold_plain)[place] = set.threshold_plain;
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

namespace {

/// Longest subword axis: a longer word gets a status, not a cube of its own size.
constexpr std::uint32_t longest_axis = 32;
/// Beyond this many pairs of template and rephrasing only one of each is tried with all of the other.
constexpr std::size_t max_pairs_tried = 20'000;

std::size_t count_occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) {
    ++count;
  }
  return count;
}

std::vector<std::string> texts_of(const std::vector<WordEntry>& entries) {
  std::vector<std::string> words;
  words.reserve(entries.size());
  for (const auto& entry : entries) {
    words.push_back(entry.word);
  }
  return words;
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

}  // namespace

AssociationProbe::AssociationProbe(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer)
    : job_(job),
      mask_token_(tokenizer.mask_token().value_or("")),
      composer_(mask_token_),
      subjects_(list_subjects(job.settings<Association>())),
      words_(list_words(job.settings<Association>().axes.traits)),
      blocks_(sweep::Product({subjects_.subjects.size(), job.settings<Association>().axes.templates.size(),
                              job.settings<Association>().axes.rephrasings.size()}),
              static_cast<std::uint64_t>(std::max<std::int64_t>(job.execution.contexts_per_block, 0))) {
  plans_ =
      std::make_unique<PlanCache>(tokenizer, texts_of(words_), job_.settings<Association>().measures, longest_axis);
  const std::uint32_t max_subwords = longest_word();
  plans_ =
      std::make_unique<PlanCache>(tokenizer, texts_of(words_), job_.settings<Association>().measures, max_subwords);
  schema_ = association_axes(job_.settings<Association>().axes, subjects_.subjects, words_, max_subwords);
  columns_ = add_association_cubes(schema_, job_.settings<Association>().measures);
}

std::uint32_t AssociationProbe::longest_word() const {
  const auto& templates = job_.settings<Association>().axes.templates;
  const auto& rephrasings = job_.settings<Association>().axes.rephrasings;
  const sweep::Subject subject = generic_subject(job_.settings<Association>().priors);
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
  auto composed = composer_.compose(subject, sentence, rephrasing);
  view.text = {.before = std::move(composed.before), .after = std::move(composed.after)};
  view.word_case = composed.capitalise_trait ? WordCase::capitalised : WordCase::as_listed;
  view.masks_before = count_occurrences(view.text.before, mask_token_);
  view.masks_after = count_occurrences(view.text.after, mask_token_);
  view.targets = plans_->find(view.text, view.word_case);
  return view;
}

ContextView AssociationProbe::view(std::uint64_t context) const {
  const auto place = blocks_.product().coordinates(context);
  return view_of(subjects_.subjects[place[0]], job_.settings<Association>().axes.templates[place[1]],
                 job_.settings<Association>().axes.rephrasings[place[2]]);
}

AssociationProbe::BlockViews AssociationProbe::views_of(const sweep::Block& block) const {
  BlockViews result;
  result.views.reserve(block.num_contexts);
  std::unordered_map<std::string, std::size_t> seen;
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const ContextView& view = result.views.emplace_back(this->view(block.first_context + i));
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
      fill.class_masses = job_.settings<Association>().measures.ilps_star;
      fill.set_distances = job_.settings<Association>().measures.set;
      round.queries.emplace_back(std::move(fill));
    }
  }
  return round;
}

std::optional<Round> AssociationProbe::next(const sweep::Block&, const Transcript&) const { return std::nullopt; }

results::RawBlock AssociationProbe::fold(const sweep::Block& block, const Transcript& transcript) const {
  STEREOSWEEP_ASSERT(transcript.answers.size() == 1, "one round of answers");
  const auto& answers = transcript.answers.front();
  const BlockViews block_views = views_of(block);
  AssociationFold fold(schema_, columns_, job_.settings<Association>().measures, block.num_contexts);
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
  const auto& measures = job_.settings<Association>().measures;
  hash.field("association 1").field(mask_token_);
  hash.number(measures.ilps ? 1 : 0).number(measures.ilps_star ? 1 : 0).number(measures.set ? 1 : 0);
  hash.number(plans_->max_subwords()).number(words_.size());
  for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
    const ContextView view = this->view(block.first_context + i);
    hash.number(view.targets == nullptr ? 0 : 1);
    if (view.targets == nullptr) {
      hash.field(view.problem);
      continue;
    }
    hash.field(view.text.before).field(view.text.after).number(view.masks_before).number(view.masks_after);
    hash.update(std::as_bytes(std::span(view.targets->digest)));
  }
}

sweep::SubjectList list_subjects(const Association& settings) {
  const auto& axes = settings.axes;
  return sweep::list_subjects(axes.groups, axes.intersections, sweep::forms_of(axes.templates), settings.priors);
}

namespace {

void check_axes(const sweep::Job& job, base::Problems& problems) {
  const auto check = [&](bool is_empty, const char* key, const char* what) {
    if (is_empty) {
      problems.add({.file = "", .line = 0, .key = key}, std::string("no ") + what, "the product would be empty");
    }
  };
  check(job.settings<Association>().axes.groups.empty() && !job.settings<Association>().priors.word &&
            !job.settings<Association>().priors.mask,
        "axes.groups", "group and no prior");
  check(list_words(job.settings<Association>().axes.traits).empty(), "axes.traits", "word of a trait");
  check(job.settings<Association>().axes.templates.empty(), "axes.templates", "template");
  check(job.settings<Association>().axes.rephrasings.empty(), "axes.rephrasings", "rephrasing");
  check(!job.settings<Association>().measures.ilps && !job.settings<Association>().measures.ilps_star &&
            !job.settings<Association>().measures.set,
        "measures", "measure");
}

/// A mask in a text of the job would be taken for the word's or the group's place.
class MaskCheck {
 public:
  MaskCheck(std::string mask_token, base::Problems& problems)
      : mask_token_(std::move(mask_token)), problems_(problems) {}
  void operator()(const std::string& text, const std::string& key) const {
    if (text.find(mask_token_) != std::string::npos) {
      problems_.add({.file = "", .line = 0, .key = key}, "'" + text + "' holds the model's mask token " + mask_token_,
                    "masks stand for the trait and for the masked group only");
    }
  }

 private:
  std::string mask_token_;
  base::Problems& problems_;
};

void check_masks(const sweep::Job& job, const std::string& mask_token, base::Problems& problems) {
  const MaskCheck check(mask_token, problems);
  for (const auto& subject : list_subjects(job.settings<Association>()).subjects) {
    if (subject.kind != sweep::SubjectKind::prior_mask) {
      check(subject.singular, "axes.groups: " + subject.label);
      check(subject.plural, "axes.groups: " + subject.label);
      check(subject.article, "axes.groups: " + subject.label);
    }
  }
  for (const auto& sentence : job.settings<Association>().axes.templates) {
    check(sentence.text, "axes.templates: " + sentence.label);
  }
  for (const auto& rephrasing : job.settings<Association>().axes.rephrasings) {
    check(rephrasing.wrapper, "axes.rephrasings: " + rephrasing.label);
    for (const auto& alternative : rephrasing.alternatives) {
      check(alternative.second, "axes.rephrasings: " + rephrasing.label);
    }
  }
  for (const auto& entry : list_words(job.settings<Association>().axes.traits)) {
    check(entry.word, "axes.traits: " + entry.pole);
  }
}

}  // namespace

std::unique_ptr<Probe> make_association(const sweep::Job& job, const tokenizer::Tokenizer& tokenizer) {
  base::Problems problems;
  check_axes(job, problems);
  if (!tokenizer.mask_token() || !tokenizer.mask_id()) {
    problems.add({.file = "", .line = 0, .key = "model.path"}, "the tokenizer has no mask token",
                 "association asks a masked language model", "use a BERT or RoBERTa checkpoint");
  } else if (problems.empty()) {
    check_masks(job, *tokenizer.mask_token(), problems);
  }
  problems.raise_if_any("the job cannot be probed");
  return std::make_unique<AssociationProbe>(job, tokenizer);
}

}  // namespace stereosweep::probes::association
