#include "probes/contexts/effects/EmbeddingTests.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Random.hpp"
#include "base/text/Text.hpp"
#include "corpus/Characters.hpp"
#include "probes/Probe.hpp"
#include "stats/permutation/ExactPermutation.hpp"

namespace stereosweep::probes::contexts {
namespace {

/// Leaves `wanted` words of a set in their order: those with the smallest draws.
void trim(TestInUse& test, SetRole role, std::size_t wanted, std::uint64_t seed, std::span<const WordVectors> words) {
  const auto set = static_cast<std::size_t>(role);
  auto& places = test.sets[set];
  std::vector<std::pair<std::uint64_t, std::uint32_t>> draws;
  for (const auto place : places) {
    draws.emplace_back(base::philox_bits({.seed = seed,
                                          .purpose = base::Purpose::trimmed_set,
                                          .test = draw_name(test.test.label),
                                          .sample = static_cast<std::uint32_t>(set),
                                          .word = draw_name(words[place].word)}),
                       place);
  }
  std::ranges::sort(draws);
  for (std::size_t i = wanted; i < draws.size(); ++i) {
    const auto place = draws[i].second;
    std::erase(places, place);
    test.trimmed[set].push_back(words[place].word);
  }
}

void match(TestInUse& test, SetRole first, SetRole second, std::uint64_t seed, std::span<const WordVectors> words) {
  const auto wanted = std::min(test.places(first).size(), test.places(second).size());
  trim(test, first, wanted, seed, words);
  trim(test, second, wanted, seed, words);
}

/// A p of relabelling few words cannot be small, whatever the effect.
void add_least_p(TestInUse& test) {
  constexpr std::uint64_t few = 20;  // no p below 0.05
  const auto n = test.places(SetRole::x).size();
  const auto m = test.places(SetRole::y).size();
  if (test.test.is_weat() && n + m <= few && n > 0 && m > 0) {
    const auto partitions = stats::num_subsets(n + m, n);
    if (partitions <= few) {
      test.remarks.push_back("no p of relabelling below 1/" + stats::to_text(partitions) + " is possible");
    }
  }
}

/// Remarks on the sets that are left; of a test that cannot be computed why.
void add_losses(TestInUse& test, const Contexts& settings, std::span<const WordVectors> words) {
  const bool is_weat = test.test.is_weat();
  std::vector<std::string> left;
  for (std::size_t set = 0; set < test.sets.size(); ++set) {
    const auto num_words = test.test.sets()[set]->words.size();
    if (test.sets[set].empty() && (is_weat || set != static_cast<std::size_t>(SetRole::y))) {
      test.is_possible = false;
      test.remarks.push_back(std::string("cannot be computed: set ") + set_role_names[set] +
                             " has no word with a vector");
      return;
    }
    if (2 * test.sets[set].size() < num_words) {
      left.push_back(std::to_string(test.sets[set].size()) + " of " + base::counted(num_words, "word") + " in " +
                     set_role_names[set]);
    }
  }
  if (!left.empty()) {
    test.remarks.push_back("only " + base::join(left, ", ") + ": the effect says little about the whole set");
    add_least_p(test);
  }
  const auto has_one_vector = [&](auto place) { return words[place].usable == 1; };
  if (!settings.is_static() && settings.samples > 1 && std::ranges::all_of(base::joined(test.sets), has_one_vector)) {
    test.remarks.emplace_back(
        "every word has one context: all samples are the same, and the combined error means nothing");
  }
  if (is_weat && test.places(SetRole::x).size() == 1 && test.places(SetRole::y).size() == 1) {
    test.remarks.emplace_back("one word against one: every effect is 1.41 or -1.41");
  }
}

}  // namespace

std::vector<std::string> list_words(const std::vector<EmbeddingTest>& tests) {
  std::vector<std::string> words;
  std::unordered_set<std::string> known;
  for (const auto& test : tests) {
    for (const auto* set : test.sets()) {
      std::ranges::copy_if(set->words, std::back_inserter(words),
                           [&](const auto& word) { return known.insert(word).second; });
    }
  }
  return words;
}

std::string shared_words(const Contexts& settings, const EmbeddingTest& test) {
  const auto spelling = [&](const std::string& word) {
    return settings.is_static()
               ? corpus::comparable(word, settings.from_table().letter_case, settings.from_table().accents)
               : corpus::comparable(word, settings.contextual().corpus.letter_case, StaticVectors::Accents::keep);
  };
  std::set<std::string> attributes;
  std::vector<std::string> shared;
  for (const auto* set : {&test.a, &test.b}) {
    std::ranges::transform(set->words, std::inserter(attributes, attributes.end()), spelling);
  }
  for (const auto* set : {&test.x, &test.y}) {
    std::ranges::copy_if(set->words, std::back_inserter(shared),
                         [&](const auto& word) { return attributes.contains(spelling(word)); });
  }
  return shared.empty() ? ""
                        : "targets that are attributes as well: " + base::join(shared, ", ") +
                              " (their cosine with themselves is 1)";
}

results::AxisSchema word_axis(const std::vector<WordVectors>& words) {
  const auto count = [](const char* name, const char* long_name, std::uint64_t WordVectors::*member) {
    return AxisText<WordVectors>{name, long_name, [member](const auto& word) { return std::to_string(word.*member); }};
  };
  return axis_of("word", "word or phrase", words, &WordVectors::word,
                 {count("found", "contexts found in the corpus", &WordVectors::found),
                  count("stored", "contexts in the sample", &WordVectors::stored),
                  count("usable", "contexts with a vector", &WordVectors::usable)});
}

std::string TestInUse::consequence() const {
  std::vector<std::string> parts;
  const auto add_list = [&](const std::vector<std::string>& words, const std::string& set, const char* why) {
    if (!words.empty()) {
      parts.push_back(set + " without " + base::join(words, ", ") + " (" + why + ")");
    }
  };
  for (std::size_t set = 0; set < sets.size(); ++set) {
    add_list(missing[set], set_role_names[set], "no vector");
    add_list(trimmed[set], set_role_names[set], "trimmed to the size of the other set");
  }
  parts.insert(parts.end(), remarks.begin(), remarks.end());
  return parts.empty() ? "all words" : base::join(parts, "; ");
}

std::vector<TestInUse> tests_in_use(const Contexts& settings, std::uint64_t seed, std::span<const WordVectors> words) {
  std::unordered_map<std::string, std::uint32_t> places;
  for (std::uint32_t place = 0; place < words.size(); ++place) {
    places.emplace(words[place].word, place);
  }
  std::vector<TestInUse> tests;
  for (const auto& test : settings.tests) {
    auto& used = tests.emplace_back();
    used.test = test;
    std::vector<std::string> lost;
    const auto sets = test.sets();
    for (std::size_t set = 0; set < sets.size(); ++set) {
      for (const auto& word : sets[set]->words) {
        const auto at = places.find(word);
        STEREOSWEEP_ASSERT(at != places.end(), "the list of words lacks '" + word + "'");
        const auto& known = words[at->second];
        if (known.usable < known.stored) {
          base::add_once(lost, word + " " + base::with_thousands(known.stored - known.usable) + " of " +
                                   base::with_thousands(known.stored));
        }
        if (known.usable > 0) {
          used.sets[set].push_back(at->second);
        } else {
          used.missing[set].push_back(word);
        }
      }
    }
    if (!lost.empty()) {
      used.remarks.push_back(
          "contexts without a vector: " + base::join(lost, ", ") +
          " (where they are too long for the model, vectors.window: 50 keeps 50 words on each side)");
    }
    if (const auto shared = shared_words(settings, test); !shared.empty()) {
      used.remarks.push_back(shared);
    }
    if (settings.unequal_sets == UnequalSets::trim) {
      if (test.is_weat()) {
        match(used, SetRole::x, SetRole::y, seed, words);
      }
      match(used, SetRole::a, SetRole::b, seed, words);
    }
    add_losses(used, settings, words);
  }
  return tests;
}

std::uint32_t draw_name(const std::string& text) {
  const auto digest = base::sha256(text);
  std::uint32_t name = 0;
  for (std::size_t byte = 4; byte-- > 0;) {
    name = name << 8U | digest[byte];
  }
  return name;
}

}  // namespace stereosweep::probes::contexts
