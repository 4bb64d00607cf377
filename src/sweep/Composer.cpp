#include "sweep/Composer.hpp"

#include "base/Error.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::sweep {
namespace {

constexpr std::string_view trait_mark = "{trait}";
constexpr std::string_view group_mark = "{group}";
constexpr std::string_view article_mark = "{a group}";
constexpr std::string_view prompt_mark = "{prompt}";

}  // namespace

std::string rephrased(const Template& sentence, const Rephrasing& rephrasing) {
  for (const auto& [label, text] : rephrasing.alternatives) {
    if (label == sentence.label) {
      return text;
    }
  }
  const std::string_view wrapper = rephrasing.wrapper;
  const auto at = wrapper.find(prompt_mark);
  STEREOSWEEP_ASSERT(at != std::string_view::npos, "the rephrasing '" + rephrasing.label + "' has no {prompt}");
  if (wrapper == prompt_mark) {
    return sentence.text;
  }
  const auto before = wrapper.substr(0, at);
  std::string text(before);
  text += opens_sentence(before) ? capitalise(sentence.text) : text_inside(sentence);
  text += wrapper.substr(at + prompt_mark.size());
  return text;
}

ContextText compose(const Subject& subject, const Template& sentence, const Rephrasing& rephrasing,
                    const std::string& mask_token) {
  const std::string text = capitalise(rephrased(sentence, rephrasing));
  const bool has_article = text.find(group_mark) == std::string::npos;
  const auto mark = has_article ? article_mark : group_mark;
  const auto group_at = text.find(mark);
  const auto trait_at = text.find(trait_mark);
  STEREOSWEEP_ASSERT(trait_at != std::string::npos && group_at != std::string::npos,
                     "the template '" + sentence.label + "' lacks {trait} or {group}");
  const bool is_mask = subject.kind == SubjectKind::prior_mask;
  const std::string& form = sentence.form == NounForm::singular ? subject.singular : subject.plural;
  STEREOSWEEP_ASSERT(is_mask || !form.empty(),
                     "'" + subject.label + "' has not the form that '" + sentence.label + "' needs");

  const std::string_view all = text;
  const auto after_trait = all.substr(trait_at + trait_mark.size());
  const bool opens = opens_sentence_at(all.substr(0, group_at), all.substr(group_at + mark.size()));
  ContextText context;
  context.before = all.substr(0, trait_at);
  context.after = after_trait;
  context.group_side = group_at < trait_at ? GroupSide::before_trait : GroupSide::after_trait;
  auto& side = group_at < trait_at ? context.before : context.after;
  const auto place = group_at < trait_at ? group_at : group_at - trait_at - trait_mark.size();
  const auto group = is_mask ? mask_token : opens && !has_article ? capitalise(form) : form;
  const auto article = !has_article ? "" : (opens ? capitalise(subject.article) : subject.article) + " ";
  context.group_span = {place + article.size(), place + article.size() + group.size()};
  side.replace(place, mark.size(), article + group);
  context.capitalise_trait = opens_sentence_at(context.before, after_trait);
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
