#include "probes/contexts/effects/ContextsSchema.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "probes/Probe.hpp"

namespace stereosweep::probes::contexts {
namespace {

using results::ElementType;

results::AxisSchema word_axis(const std::vector<WordVectors>& words) {
  const auto count = [](const char* name, const char* long_name, std::uint64_t WordVectors::*member) {
    return AxisText<WordVectors>{name, long_name, [member](const auto& word) { return std::to_string(word.*member); }};
  };
  return axis_of("word", "word or phrase", words, &WordVectors::word,
                 {count("found", "contexts found in the corpus", &WordVectors::found),
                  count("stored", "contexts in the sample", &WordVectors::stored),
                  count("usable", "contexts with a vector", &WordVectors::usable)});
}

std::string json_of(const std::vector<std::string>& words) { return base::Json(words).dump(); }

std::string json_of(const std::array<std::vector<std::string>, 4>& sets) {
  std::vector<std::string> all;
  for (const auto& set : sets) {
    all.insert(all.end(), set.begin(), set.end());
  }
  return json_of(all);
}

results::AxisSchema test_axis(const std::vector<TestInUse>& tests, const std::vector<WordVectors>& words) {
  const auto set = [](const char* role, const char* long_name, const WordSet EmbeddingTest::*member) {
    return AxisText<TestInUse>{role, long_name, [member](const auto& used) { return (used.test.*member).label; }};
  };
  const auto words_of = [&](std::size_t role) {
    const auto read = [&words, role](const TestInUse& used) {
      std::vector<std::string> names;
      for (const auto place : used.sets[role]) {
        names.push_back(words[place].word);
      }
      return json_of(names);
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

}  // namespace

results::RawSchema vectors_schema(const std::vector<WordVectors>& words, std::uint64_t contexts,
                                  std::uint64_t dimension) {
  results::RawSchema schema;
  schema.outer_axes = {word_axis(words),
                       numbered_axis("context", "context of the word, in the order of the draw", contexts)};
  schema.outer_axes.front().coordinates.pop_back();  // how many are usable is not known yet
  schema.inner_axes = {numbered_axis("dimension", "dimension of the vectors", dimension),
                       {"edge", "edge of a range of bytes", {"begin", "end"}, {}}};
  schema.cubes = {
      cube("vector", ElementType::float32, {"dimension"}, "1", "vector of the word in the context",
           "as the model gives it, not normalised"),
      cube("span", ElementType::int32, {"edge"}, "1", "bytes of the sentence that are the word", "half open; -1: none"),
      cube("status", ElementType::uint8, {}, "", "why the vector is what it is", "",
           {"ok", "no_context", "too_long", "not_finite", "engine_error"}),
      cube("sentence", ElementType::text, {}, "", "text that the model was given"),
      cube("problem", ElementType::text, {}, "", "failure of the engine in this context", "empty: none"),
  };
  return schema;
}

results::RawSchema effects_schema(const std::vector<TestInUse>& tests, const std::vector<WordVectors>& words,
                                  std::uint64_t samples) {
  std::size_t slots = 1;
  std::size_t attributes = 0;  // of wefat tests
  for (const auto& used : tests) {
    slots = std::max(slots, used.places(SetRole::x).size() + used.places(SetRole::y).size());
    if (used.test.kind == EmbeddingTest::Kind::wefat) {
      attributes =
          std::max({attributes, std::size_t{1}, used.places(SetRole::a).size() + used.places(SetRole::b).size()});
    }
  }
  results::RawSchema schema;
  schema.outer_axes = {test_axis(tests, words), numbered_axis("sample", "draw of one context per word", samples)};
  schema.inner_axes = {numbered_axis("target", "target word: those of X, then those of Y", slots), word_axis(words)};
  schema.cubes = {
      cube("association", ElementType::float64, {"target"}, "1", "association of the target word with A against B",
           "mean cosine with the words of A minus mean cosine with those of B"),
      cube("effect_size", ElementType::float64, {}, "1", "effect size of the draw",
           "(mean association of X minus that of Y) over the standard deviation (ddof 1) in X and Y; NaN for wefat"),
      cube("association_variance", ElementType::float64, {}, "1", "variance of the associations in X and Y",
           "ddof 1, cosine squared: the published in-sample variance; NaN for wefat"),
      cube("status", ElementType::uint8, {}, "", "why the effect size is what it is", "",
           {"ok", "missing_words", "zero_deviation", "not_finite"}),
  };
  if (attributes > 0) {
    schema.inner_axes.push_back(
        numbered_axis("attribute", "attribute word of a wefat test: those of A, then those of B", attributes));
    schema.cubes.push_back(cube("association_deviation", ElementType::float64, {"target"}, "1",
                                "standard deviation of the target's cosines with A and B",
                                "ddof 1; its effect is association over this; NaN for weat"));
    schema.cubes.push_back(cube("cosine", ElementType::float32, {"target", "attribute"}, "1",
                                "cosine of the target word with the attribute word",
                                "what relabelling the attribute words needs; NaN for weat"));
  }
  return schema;
}

std::vector<std::string> words_of_coordinate(const std::string& json) {
  const auto parsed = base::parse_json(json, "a coordinate of axis test");
  try {
    return parsed.get<std::vector<std::string>>();
  } catch (const base::Json::exception& error) {
    throw base::InputError(base::describe("a coordinate of axis test is no list of words", error.what()));
  }
}

}  // namespace stereosweep::probes::contexts
