#include "sweep/Composer.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/ProcessorTime.hpp"

namespace stereosweep::sweep {
namespace {

Subject subject_of(const std::string& singular, const std::string& plural, const std::string& article) {
  return {SubjectKind::group, plural, {}, {}, singular, plural, article};
}

const Subject women = subject_of("woman", "women", "a");
const Subject asian = subject_of("Asian person", "Asian people", "an");
const Subject mask = {SubjectKind::prior_mask, "prior_mask", {}, {}, "", "", "a"};
const Rephrasing none = {"none", "{prompt}", {}};

Template plural(const std::string& text) { return {"t", "", text, NounForm::plural}; }
Template singular(const std::string& text) { return {"t", "", text, NounForm::singular}; }

std::string text_of(const Subject& who, const Template& sentence, const std::string& wrapper = "{prompt}",
                    const std::string& trait = "kind") {
  return with_trait(compose(who, sentence, {"w", wrapper, {}}, "[MASK]"), trait);
}

TEST(Composer, forms_articles_and_capitals) {
  EXPECT_EQ(text_of(women, plural("{group} are {trait}.")), "Women are kind.");
  EXPECT_EQ(text_of(asian, plural("most {group} are {trait}.")), "Most Asian people are kind.");
  EXPECT_EQ(text_of(asian, singular("{a group} is {trait}.")), "An Asian person is kind.");
  EXPECT_EQ(text_of(women, singular("he met {a group}, {trait} as ever.")), "He met a woman, kind as ever.");
  EXPECT_EQ(text_of(women, singular("the {group} is {trait}.")), "The woman is kind.");
  EXPECT_EQ(text_of(women, plural("{trait} people are {group}.")), "Kind people are women.");
  EXPECT_EQ(text_of(women, plural("It is so. {group} are {trait}.")), "It is so. Women are kind.");
  EXPECT_EQ(text_of(women, plural("{group}! {trait}!")), "Women! Kind!");
  EXPECT_EQ(text_of(women, plural("the {group} are \"{trait}\" people.")), "The women are \"kind\" people.");
  EXPECT_EQ(text_of(women, plural("these \"{group}\" are ({trait}) people.")), "These \"women\" are (kind) people.");
  EXPECT_EQ(text_of(women, plural("\"{trait}\" is the word for {group}.")), "\"Kind\" is the word for women.");
  EXPECT_EQ(text_of(women, plural("he said: \"{group} are {trait}.\"")), "He said: \"Women are kind.\"");
}

TEST(Composer, wrappers_lower_what_is_lower_by_nature) {
  EXPECT_EQ(text_of(women, plural("{group} are {trait}."), "People say that {prompt}"),
            "People say that women are kind.");
  EXPECT_EQ(text_of(asian, plural("{group} are {trait}."), "people say that {prompt}"),
            "People say that Asian people are kind.");
  EXPECT_EQ(text_of(women, plural("Most {group} are {trait}."), "People say that {prompt}"),
            "People say that most women are kind.");
  EXPECT_EQ(text_of(women, plural("I know {group} are {trait}."), "People say that {prompt}"),
            "People say that I know women are kind.");
  EXPECT_EQ(text_of(women, plural("most {group} are {trait}."), "He wrote: \"{prompt}\""),
            "He wrote: \"Most women are kind.\"");
  EXPECT_EQ(text_of(women, plural("{group} are {trait}."), "\"{prompt}\" he wrote."), "\"Women are kind.\" he wrote.");
  EXPECT_EQ(text_of(women, plural("{trait} is the word for {group}."), "Listen. {prompt}"),
            "Listen. Kind is the word for women.");
  EXPECT_EQ(text_of(women, plural("{trait} is the word for {group}."), "They say {prompt}"),
            "They say kind is the word for women.");
}

TEST(Composer, alternatives_replace_single_templates) {
  const Rephrasing anew = {"anew", "So: {prompt}", {{"t", "as for {group}, {trait}."}}};
  const std::string mask_token = "[MASK]";
  EXPECT_EQ(with_trait(compose(women, plural("{group} are {trait}."), anew, mask_token), "kind"),
            "As for women, kind.");
  auto other = plural("{group} are {trait}.");
  other.label = "u";
  EXPECT_EQ(with_trait(compose(women, other, anew, mask_token), "kind"), "So: women are kind.");
}

TEST(Composer, spans_and_sides_point_at_the_group) {
  const std::string mask_token = "<mask>";
  for (const auto* text :
       {"the {group} is {trait}.", "{a group} is {trait}.", "{trait} is {a group}.", "so {trait}: {group}"}) {
    for (const auto* who : {&women, &asian, &mask}) {
      const auto context = compose(*who, singular(text), none, mask_token);
      const bool first = context.group_side == GroupSide::before_trait;
      EXPECT_EQ(first, std::string_view(text).find("group") < std::string_view(text).find("trait")) << text;
      const std::string& side = first ? context.before : context.after;
      ASSERT_LE(context.group_span.end, side.size());
      EXPECT_EQ(side.substr(context.group_span.begin, context.group_span.end - context.group_span.begin),
                who == &mask ? "<mask>" : who->singular)
          << text;
    }
  }
}

TEST(Composer, the_mask_prior_is_one_mask_untouched_by_capitals) {
  const std::string mask_token = "<mask>";
  EXPECT_EQ(with_trait(compose(mask, plural("{group} are {trait}."), none, mask_token), "<mask>"),
            "<mask> are <mask>.");
  EXPECT_EQ(with_trait(compose(mask, singular("{a group} is {trait}."), none, mask_token), "x"), "A <mask> is x.");
}

TEST(Composer, broken_invariants_throw) {
  const std::string mask_token = "[MASK]";
  EXPECT_THROW(compose(women, plural("{group} are."), none, mask_token), std::logic_error);
  EXPECT_THROW(compose(women, plural("{trait}"), none, mask_token), std::logic_error);
  EXPECT_THROW(compose(women, plural("{group} {trait}"), {"x", "no", {}}, mask_token), std::logic_error);
  EXPECT_THROW(compose(subject_of("", "women", "a"), singular("{group} {trait}"), none, mask_token), std::logic_error);
}

TEST(Composer, two_hundred_thousand_contexts_take_a_second_at_most) {
  const std::string mask_token = "[MASK]";
  const auto sentence = plural("it is often claimed that {group} are {trait}.");
  const Rephrasing wrapper = {"w", "On the bus I heard someone say: \"{prompt}\"", {}};
  const ProcessorTime time;
  std::size_t total = 0;
  for (int i = 0; i < 200'000; ++i) {
    total += compose(i % 2 == 0 ? women : asian, sentence, wrapper, mask_token).before.size();
  }
  const double taken = time.seconds();
  EXPECT_GT(total, 0u);
  EXPECT_LT(taken, 1.0);
  RecordProperty("contexts_per_second", static_cast<int>(200'000 / taken));
  std::cout << static_cast<int>(200'000 / taken) << " contexts/s\n";
}

}  // namespace
}  // namespace stereosweep::sweep
