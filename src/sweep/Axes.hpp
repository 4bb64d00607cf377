// The axes of a sweep: groups, intersections, traits, templates, rephrasings. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stereosweep::sweep {

/// Noun form that a template asks of the group that stands in it.
enum class NounForm { singular, plural };

/// A social group with the surface forms that templates and intersections need. Empty: the form does not exist.
struct Group {
  std::string label;          ///< unique name, the coordinate in the result: "Black people"
  std::string domain;         ///< "race", "gender", ...: intersections combine different domains
  std::string singular;       ///< "Black person"
  std::string plural;         ///< "Black people"
  std::string article;        ///< "a" or "an" where the rule by first letter is wrong; empty: by rule
  std::string adjective;      ///< before another group's noun: "Black", "female"
  std::string suffix;         ///< after another group's noun: "with a disability"
  std::string suffix_plural;  ///< after a plural noun: "with disabilities"; empty: `suffix`
  std::string noun_singular;  ///< head noun that another group's adjective may modify: "doctor"; empty: `singular`
  std::string noun_plural;    ///< "doctors"; empty: `plural`
  bool operator==(const Group&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "name in the result; else the plural, or the singular");
    keys.line("domain", self.domain, "race, gender, ...: intersections combine different domains");
    keys.line("singular", self.singular, "Black person");
    keys.alone().line("plural", self.plural, "Black people");
    article_keys(keys, self.article);
    keys.line("adjective", self.adjective, "before another group's noun: Black");
    keys.line("suffix", self.suffix, "after another group's noun: with a disability");
    keys.line("suffix_plural", self.suffix_plural, "after a plural noun; else the suffix");
    keys.line("noun_singular", self.noun_singular, "what another group's adjective may stand before: doctor");
    keys.line("noun_plural", self.noun_plural, "doctors");
  }
};

/// A surface form that no rule makes: ("Hispanic", "woman") -> "Latina", "Latinas". Beside further groups it stands in
/// the place of these two, where one of them would give the noun: "disabled Latina".
struct LexicalForm {
  std::string first;   ///< label of the first group
  std::string second;  ///< label of the second group
  std::string singular;
  std::string plural;
  std::string article;
  bool operator==(const LexicalForm&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.required_line("first", self.first, "label of a group");
    keys.required_line("second", self.second, "label of a group");
    keys.required_line("singular", self.singular);
    keys.required_line("plural", self.plural);
    article_keys(keys, self.article);
  }
};

/// How a singular gets its indefinite article where its form declares none.
struct ArticleRule {
  /// english: "a" or "an" by how it begins; vowel: one of two words by its first letter; noun: that of the group whose
  /// noun it is, which declares it.
  enum class By : std::uint8_t { english, vowel, noun };
  By by = By::english;
  std::string before_vowel = {};
  std::string otherwise = {};
  bool operator==(const ArticleRule&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.choice("by", self.by, {"english", "vowel", "noun"});
    keys.line("before_vowel", self.before_vowel);
    keys.line("otherwise", self.otherwise);
  }
};

/// What the parts of an intersection are called, which has at most as many.
inline const std::vector<std::string> part_names = {"first", "second", "third", "fourth", "fifth"};
inline constexpr std::size_t most_parts = 5;

/// Which groups are combined, two to `most_parts` of them.
struct IntersectionRule {
  using Labels = std::vector<std::string>;
  std::vector<Labels> pairs;       ///< of groups, combined beside `domains`; also three or more of them
  std::vector<Labels> domains;     ///< domains whose groups are crossed
  std::vector<Labels> exclusions;  ///< of groups, in any order: an intersection that has all of them is left out
  std::vector<LexicalForm> lexical;
  bool both_orders = true;  ///< all orders: "Catholic teenager", "teenage Catholic person" where the forms allow
  ArticleRule articles = {};
  bool operator==(const IntersectionRule&) const = default;
};

/// What stands in the place of the group.
enum class SubjectKind { prior_word, prior_mask, group, intersection };

/// One value of the outermost axis, with its final surface forms. Priors come first, then groups, then intersections.
struct Subject {
  SubjectKind kind = SubjectKind::group;
  std::string label;
  std::vector<std::string> components;  ///< labels of the groups it is made of, in order; none for priors
  std::vector<std::string> domains;     ///< of the components
  std::string singular;
  std::string plural;
  std::string article;  ///< indefinite, of `singular`: "a", "an"
  bool operator==(const Subject&) const = default;
};

/// One pole of a trait pair with the words that stand for it (the first is usually the pole's own name).
struct Pole {
  std::string name;
  std::vector<std::string> words;
  bool operator==(const Pole&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("name", self.name, "else the first word");
    keys.required_lines("words", self.words);
  }
};

/// "powerless - powerful": `left` is 0 and `right` 100 on human rating scales.
struct TraitPair {
  std::string label;
  std::string dimension;  ///< "agency", "beliefs", "communion", ...
  Pole left;
  Pole right;
  bool operator==(const TraitPair&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "else LEFT - RIGHT");
    keys.line("dimension", self.dimension);
    pole_key(keys, "left", self.left);
    pole_key(keys, "right", self.right);
  }
};

/// A sentence with one {group} and one {trait}; a group at the start of the sentence is capitalised.
struct Template {
  inline static const std::vector<std::string> form_names = {"singular", "plural"};
  std::string label;
  std::string kind;  ///< "singular", "plural", "adverb", "belief", ... : for tables only
  std::string text;  ///< placeholders: {group} {a group} {trait}
  NounForm form = NounForm::plural;
  std::string inside = {};  ///< as it stands inside a wrapper; "": by the rule of English (lower_function_word)
  bool operator==(const Template&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "else the text");
    keys.line("kind", self.kind, "for tables only");
    keys.needed().alone().line("text", self.text, "with {group} or {a group}, and {trait}");
    keys.choice("form", self.form, form_names, "of the group; else singular behind {a group}, plural otherwise");
    keys.line("inside", self.inside, "as it stands inside a wrapper");
  }
};

/// Another way to say a prompt: a wrapper with {prompt}, or full texts that replace single templates.
struct Rephrasing {
  std::string label;
  std::string wrapper;  ///< "People say that {prompt}"; empty where `alternatives` is used
  std::vector<std::pair<std::string, std::string>> alternatives;  ///< template label -> text with the placeholders
  bool operator==(const Rephrasing&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.line("label", self.label, "else the wrapper");
    keys.alone().line("wrapper", self.wrapper, "with one {prompt}");
    keys.names("alternatives", self.alternatives, "label of a template: its text");
  }
};

/// A part of templates x rephrasings that is asked in place of all: every template in as many rephrasings, every
/// rephrasing about as often, dealt by the job's seed (stats::looks_of_cells).
struct Design {
  static constexpr const char* key_form = "{layers: 2}";
  std::int64_t layers = 1;  ///< rephrasings of each template
  std::string paired = {};  ///< "template.pair": templates with one value are asked in the same rephrasings
  bool operator==(const Design&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.needed().integer("layers", self.layers, 1, 1'000'000, "rephrasings in which each template is asked");
    keys.unless_default().line("paired", self.paired, "templates with one value of this coordinate are dealt together");
  }
};

/// What scores are differences to: subjects beside the groups.
struct Priors {
  bool word = true;  ///< the generic noun below in place of the group (published code)
  bool mask = true;  ///< a mask in place of the group (paper)
  std::string word_singular = "person";
  std::string word_plural = "people";
  std::string word_article = {};  ///< of `word_singular`; "": by the rule of the other words
  bool operator==(const Priors&) const = default;
};

/// None of them.
inline const Priors no_priors{.word = false, .mask = false, .word_singular = {}, .word_plural = {}, .word_article = {}};

/// Axes of a sweep over groups and trait pairs.
struct Axes {
  std::vector<Group> groups;
  IntersectionRule intersections;
  std::vector<TraitPair> traits;
  std::vector<Template> templates;
  std::vector<Rephrasing> rephrasings;  ///< never empty: "none" is one rephrasing with the wrapper "{prompt}"
  bool operator==(const Axes&) const = default;
};

}  // namespace stereosweep::sweep
