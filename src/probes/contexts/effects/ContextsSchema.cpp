#include "probes/contexts/effects/ContextsSchema.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Json.hpp"

namespace stereosweep::probes::contexts {
namespace {

template <class Item, class Read>
std::vector<std::string> collect(const Item& items, Read read) {
  std::vector<std::string> values;
  for (const auto& item : items) {
    values.push_back(read(item));
  }
  return values;
}

results::AxisSchema word_axis(std::span<const WordVectors> words) {
  results::AxisSchema axis{"word", "word or phrase", collect(words, [](const auto& word) { return word.word; }), {}};
  const auto count = [&](const char* name, const char* long_name, std::uint64_t WordVectors::*member) {
    axis.coordinates.push_back(
        {name, long_name, collect(words, [&](const auto& word) { return std::to_string(word.*member); })});
  };
  count("found", "contexts found in the corpus", &WordVectors::found);
  count("stored", "contexts in the sample", &WordVectors::stored);
  return axis;
}

results::CubeSchema cube(std::string name, results::ElementType type, std::vector<std::string> axes, std::string units,
                         std::string long_name, std::string description) {
  return {std::move(name), type, std::move(axes), std::move(units), std::move(long_name), std::move(description), {}};
}

std::string json_of(const std::vector<std::string>& words) { return base::Json(words).dump(); }

results::AxisSchema test_axis(const std::vector<TestInUse>& tests, std::span<const WordVectors> words) {
  results::AxisSchema axis{
      "test", "association test", collect(tests, [](const auto& used) { return used.test.label; }), {}};
  const auto add = [&](const std::string& name, const std::string& long_name, auto read) {
    axis.coordinates.push_back({name, long_name, collect(tests, read)});
  };
  const auto add_set = [&](const char* role, const std::string& long_name, const WordSet EmbeddingTest::*set) {
    add(role, long_name, [set](const TestInUse& used) { return (used.test.*set).label; });
  };
  add("kind", "weat: two sets of targets; wefat: one",
      [](const TestInUse& used) { return std::string(name_of(used.test.kind)); });
  add("title", "title", [](const TestInUse& used) { return used.test.title; });
  add_set("x", "target set X", &EmbeddingTest::x);
  add_set("y", "target set Y", &EmbeddingTest::y);
  add_set("a", "attribute set A", &EmbeddingTest::a);
  add_set("b", "attribute set B", &EmbeddingTest::b);
  for (std::size_t set = 0; set < set_role_names.size(); ++set) {
    add(std::string(set_role_names[set]) + "_words", "words of the set that take part (JSON)",
        [&](const TestInUse& used) {
          return json_of(collect(used.sets[set], [&](std::uint32_t place) { return words[place].word; }));
        });
  }
  const auto all_of = [](const std::array<std::vector<std::string>, 4>& sets) {
    std::vector<std::string> all;
    for (const auto& set : sets) {
      all.insert(all.end(), set.begin(), set.end());
    }
    return json_of(all);
  };
  add("missing", "words without a vector (JSON)", [&](const TestInUse& used) { return all_of(used.missing); });
  add("trimmed", "words left out so that sets are of one size (JSON)",
      [&](const TestInUse& used) { return all_of(used.trimmed); });
  add("consequence", "what missing and trimmed words change", [](const TestInUse& used) { return used.consequence(); });
  return axis;
}

}  // namespace

results::AxisSchema numbered(std::string name, std::string long_name, std::uint64_t length) {
  results::AxisSchema axis{std::move(name), std::move(long_name), {}, {}};
  for (std::uint64_t i = 0; i < length; ++i) {
    axis.labels.push_back(std::to_string(i));
  }
  return axis;
}

results::RawSchema vectors_schema(std::span<const WordVectors> words, std::uint64_t contexts, std::uint64_t dimension) {
  results::RawSchema schema;
  schema.outer_axes = {word_axis(words),
                       numbered("context", "context of the word, in the order of the draw", contexts)};
  schema.inner_axes = {numbered("dimension", "dimension of the vectors", dimension),
                       {"edge", "edge of a range of bytes", {"begin", "end"}, {}}};
  schema.cubes = {
      cube("vector", results::ElementType::float32, {"dimension"}, "1", "vector of the word in the context",
           "as the model gives it, not normalised"),
      cube("span", results::ElementType::int32, {"edge"}, "1", "bytes of the sentence that are the word",
           "half open; -1: none"),
      cube("status", results::ElementType::uint8, {}, "", "why the vector is what it is", ""),
      cube("sentence", results::ElementType::text, {}, "", "text that the model was given", ""),
      cube("problem", results::ElementType::text, {}, "", "failure of the engine in this context", "empty: none"),
  };
  schema.cubes[2].flag_meanings = {"ok", "no_context", "too_long", "not_finite", "engine_error"};
  return schema;
}

results::RawSchema effects_schema(const std::vector<TestInUse>& tests, std::span<const WordVectors> words,
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
  schema.outer_axes = {test_axis(tests, words), numbered("sample", "draw of one context per word", samples)};
  schema.inner_axes = {numbered("target", "target word: those of X, then those of Y", slots), word_axis(words)};
  auto& word = schema.inner_axes.back();
  word.coordinates.push_back({"usable", "contexts with a vector",
                              collect(words, [](const auto& item) { return std::to_string(item.usable); })});
  schema.cubes = {
      cube("association", results::ElementType::float64, {"target"}, "1",
           "association of the target word with A against B",
           "mean cosine with the words of A minus mean cosine with those of B"),
      cube("effect_size", results::ElementType::float64, {}, "1", "effect size of the draw",
           "(mean association of X minus that of Y) over the standard deviation (ddof 1) in X and Y; NaN for wefat"),
      cube("association_variance", results::ElementType::float64, {}, "1", "variance of the associations in X and Y",
           "ddof 1, cosine squared: the published in-sample variance; NaN for wefat"),
      cube("status", results::ElementType::uint8, {}, "", "why the effect size is what it is", ""),
  };
  schema.cubes.back().flag_meanings = {"ok", "missing_words", "zero_deviation", "not_finite"};
  if (attributes > 0) {
    schema.inner_axes.push_back(
        numbered("attribute", "attribute word of a wefat test: those of A, then those of B", attributes));
    schema.cubes.push_back(cube("association_deviation", results::ElementType::float64, {"target"}, "1",
                                "standard deviation of the target's cosines with A and B",
                                "ddof 1; its effect is association over this; NaN for weat"));
    schema.cubes.push_back(cube("cosine", results::ElementType::float32, {"target", "attribute"}, "1",
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
