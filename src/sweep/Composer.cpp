#include "sweep/Composer.hpp"

#include "base/Error.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::sweep {
namespace {

constexpr std::string_view trait_mark = "{trait}";
constexpr std::string_view group_mark = "{group}";
constexpr std::string_view article_mark = "{a group}";
constexpr std::string_view prompt_mark = "{prompt}";

/// The sentence with its placeholders: the alternative, or the template inside the wrapper.
std::string sentence_with_marks(const Template& sentence, const Rephrasing& rephrasing) {
  for (const auto& [label, text] : rephrasing.alternatives) {
    if (label == sentence.label) {
      return text;
    }
  }
  const std::string_view wrapper = rephrasing.wrapper;
  const auto at = wrapper.find(prompt_mark);
  STEREOSWEEP_ASSERT(at != std::string_view::npos, "the rephrasing '" + rephrasing.label + "' has no {prompt}");
  const auto before = wrapper.substr(0, at);
  std::string text(before);
  text += opens_sentence(before) ? capitalise(sentence.text) : text_inside(sentence);
  text += wrapper.substr(at + prompt_mark.size());
  return text;
}

}  // namespace

ContextText compose(const Subject& subject, const Template& sentence, const Rephrasing& rephrasing,
                    const std::string& mask_token) {
  const std::string text = capitalise(sentence_with_marks(sentence, rephrasing));
  const auto trait_at = text.find(trait_mark);
  auto group_at = text.find(group_mark);
  std::size_t mark_size = group_mark.size();
  bool has_article = false;
  if (group_at == std::string::npos) {
    group_at = text.find(article_mark);
    mark_size = article_mark.size();
    has_article = true;
  }
  STEREOSWEEP_ASSERT(trait_at != std::string::npos && group_at != std::string::npos,
                     "the template '" + sentence.label + "' lacks {trait} or {group}");
  const bool is_mask = subject.kind == SubjectKind::prior_mask;
  const std::string& form = sentence.form == NounForm::singular ? subject.singular : subject.plural;
  STEREOSWEEP_ASSERT(is_mask || !form.empty(),
                     "'" + subject.label + "' has not the form that '" + sentence.label + "' needs");

  const bool group_first = group_at < trait_at;
  const std::string_view all = text;
  ContextText context;
  context.before.reserve(text.size() + form.size() + 8);
  context.group_side = group_first ? GroupSide::before_trait : GroupSide::after_trait;
  const auto put_group = [&](std::string& out, std::string_view said_before) {
    const bool opens = opens_sentence_at(said_before, all.substr(group_at + mark_size));
    if (has_article) {
      out += opens ? capitalise(subject.article) : subject.article;
      out += ' ';
    }
    context.group_span.begin = out.size();
    out += is_mask ? mask_token : opens && !has_article ? capitalise(form) : form;
    context.group_span.end = out.size();
  };
  const std::size_t after_trait = trait_at + trait_mark.size();
  if (group_first) {
    context.before = all.substr(0, group_at);
    put_group(context.before, all.substr(0, group_at));
    context.before += all.substr(group_at + mark_size, trait_at - group_at - mark_size);
    context.after = all.substr(after_trait);
    context.capitalise_trait = opens_sentence_at(context.before, all.substr(after_trait));
  } else {
    context.before = all.substr(0, trait_at);
    context.capitalise_trait = opens_sentence_at(context.before, all.substr(after_trait));
    context.after = all.substr(after_trait, group_at - after_trait);
    put_group(context.after, all.substr(0, group_at));
    context.after += all.substr(group_at + mark_size);
  }
  return context;
}

std::string with_trait(const ContextText& context, std::string_view trait) {
  std::string text;
  text.reserve(context.before.size() + trait.size() + context.after.size());
  text += context.before;
  text += context.capitalise_trait ? capitalise(trait) : std::string(trait);
  return text += context.after;
}

}  // namespace stereosweep::sweep
