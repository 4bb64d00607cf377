// Cell -> text. A context (subject, template, rephrasing) becomes the text on both sides of the trait.
#pragma once

#include <string>
#include <string_view>

#include "base/text/Text.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::sweep {

/// Where the group (or its mask) stands.
enum class GroupSide { before_trait, after_trait };

/// One prompt around its trait: `before` + trait + `after`. Owns its texts.
struct ContextText {
  std::string before;
  std::string after;
  bool capitalise_trait = false;  ///< the trait opens the sentence
  GroupSide group_side = GroupSide::before_trait;
  base::Span group_span;  ///< bytes of the group's words, without an article, in `before` or `after` (`group_side`)
};

/// The rephrasing's own text for the template if it has one, else the template inside the wrapper; with placeholders.
/// Throws std::logic_error where the wrapper has no {prompt}.
std::string rephrased(const Template& sentence, const Rephrasing& rephrasing);

/// That text with the subject's words. Its first letter is a capital, and so is that of a group or trait that opens a
/// sentence. `mask_token` stands for the group of the mask prior: one mask, however many words the groups have. Cheap:
/// a few string copies. Throws std::logic_error where an invariant of the job is broken (no {trait}, a form that does
/// not exist).
ContextText compose(const Subject& subject, const Template& sentence, const Rephrasing& rephrasing,
                    const std::string& mask_token);

/// The whole text with `trait` in its place, capitalised where the context says so.
std::string with_trait(const ContextText& context, std::string_view trait);

}  // namespace stereosweep::sweep
