#include "probes/association/AssociationProbe.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/Check.hpp"
#include "base/Error.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/AssociationFold.hpp"

namespace stereosweep::probes::association {

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

}  // namespace stereosweep::probes::association
