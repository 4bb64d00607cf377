// Job files that mean harm or are merely wrong: each is refused with a message that names the fault, in under a second.
#include <gmock/gmock.h>

#include <random>

#include "config/JobLoader.hpp"
#include "config/JobText.hpp"
#include "support/ProcessorTime.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::config {
namespace {

using ::testing::HasSubstr;

std::string repeat(const std::string& part, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += part;
  }
  return out;
}

struct Case {
  std::string name;
  std::string text;
  std::string expected;
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

std::string names(const std::string& prefix, int count) {
  std::string out = "[";
  for (int i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ", ") + prefix + std::to_string(i);
  }
  return out + "]";
}

std::vector<Case> structure_cases() {
  return {
      {"anchor", with(small_job, "name: small", "name: &x small"), "2:name: anchors are not allowed"},
      {"alias", with(small_job, "name: small", "name: &x small\nseed: *x"), "aliases are not allowed"},
      {"cycle", "a: &x\n  - *x", "aliases are not allowed"},
      {"unknown alias", "a: *nobody", "no valid YAML"},
      {"bomb", "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\n", "anchors are not allowed"},
      {"merge key", "base: &b {x: 1}\nname: {<<: *b}\n", "anchors are not allowed"},
      {"tag", with(small_job, "name: small", "name: !!binary aGk="), "tags are not allowed"},
      {"own tag", with(small_job, "name: small", "name: !python/object small"), "tags are not allowed"},
      {"duplicate key", small_job + "name: again\n", "15:name: the key 'name' stands twice"},
      {"duplicate inner key", with(small_job, "{path: nowhere}", "{path: a, path: b}"), "the key 'path' stands twice"},
      {"two documents", small_job + "---\n" + small_job, "a second document"},
      {"complex key", "? [a, b]\n: 1\n", "a key must be one word"},
      {"map as key", "{{a: b}: c}", "a key must be one word"},
      {"null key", ": a\n", "a key must be one word"},
      {"deep flow", "a: " + repeat("[", 20) + repeat("]", 20),
       "1:a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: values are nested deeper than 16"},
      {"very deep flow", repeat("[", 100'000), "cannot be used"},
      {"deep flow maps", repeat("{a: ", 100'000), "cannot be used"},
      {"deep block", repeat("- ", 100'000) + "x", "deeper than 16"},
      {"deep keys", repeat("? ", 100'000) + "x", "a key must be one word"},
      {"many nodes", "a: [" + repeat("1,", 200'000) + "1]", "more than 100,000 values"},
      {"many keys",
       [] {
         std::string text;
         for (int i = 0; i < 45'000; ++i) {
           text += "k" + std::to_string(i) + ": 1\n";
         }
         return text;
       }(),
       "unknown key 'k0'"},
      {"too large", small_job + "#" + repeat("x", 1 << 20), "at most 1048576"},
      {"one long word", "name: " + repeat("x", 1'000'000), "missing"},
      {"one long comment line", "#" + repeat("x", 1'000'000), "cannot be used"},
      {"a megabyte of line breaks", repeat("\n", 1'000'000), "cannot be used"},
      {"a megabyte of quotes", repeat("\"", 1'000'000), "cannot be used"},
      {"a megabyte of colons", repeat(":", 1'000'000), "cannot be used"},
      {"a megabyte of spaces", repeat(" ", 1'000'000) + "a", "cannot be used"},
      {"a megabyte of bangs", repeat("!", 1'000'000), "cannot be used"},
      {"commas", "[" + repeat(",", 1'000'000), "cannot be used"},
      {"NUL", with(small_job, "name: small", std::string("name: sm\0all", 12)),
       ":2: a control character (\\x00 at byte"},
      {"escape character", with(small_job, "small", "sm\x1B[31m"), "control character"},
      {"control of Latin-1",
       with(small_job, "small",
            "sm\xC2\x9B"
            "31m"),
       ":2: a control character (\\x9b at byte"},
      {"override of the direction",
       with(small_job, "small",
            "sm\xE2\x80\xAE"
            "all"),
       "a control character (\\u202e"},
      {"isolate by escape", with(small_job, "name: small", "name: \"sm\\u2067all\""), "control character"},
      {"NUL by escape", with(small_job, "name: small", "name: \"sm\\0all\""), "control character"},
      {"bad UTF-8", with(small_job, "small", "sm\xFF"), "invalid UTF-8"},
      {"overlong UTF-8", with(small_job, "small", "sm\xC0\xAF"), "invalid UTF-8"},
      {"surrogate", with(small_job, "small", "sm\xED\xA0\x80"), "invalid UTF-8"},
      {"UTF-16", std::string("\xFF\xFEn\0a\0", 6), "invalid UTF-8"},
      {"tab indent", "axes:\n\tgroups: []\n", ":2: a tab in the indentation"},
      {"open quote", "name: \"abc\n", "a quote is not closed"},
      {"bad escape", "name: \"\\q\"\n", "an unknown escape in double quotes"},
      {"directive", "%YAML 9.9\n---\nname: x\n", "major version"},
  };
}

std::vector<Case> value_cases() {
  const auto change = [](const std::string& from, const std::string& to) { return with(small_job, from, to); };
  return {
      {"unknown schema", change("stereosweep/1", "stereosweep/2"), "1:schema: unknown value"},
      {"unknown probe", change("association", "asociation"), "Did you mean 'association'?"},
      {"list as name", change("name: small", "name: [small]"), "2:name: text is expected (here stands a list)"},
      {"null name", change("name: small", "name:"), "2:name: text is expected (here stands nothing)"},
      {"text as axes", with(small_job, "model: {path: nowhere}", "model: [x]"), "3:model: a mapping is expected"},
      {"negative seed", small_job + "seed: -1\n", "15:seed: a whole number from 0"},
      {"huge seed", small_job + "seed: 18446744073709551616\n", "15:seed: a whole number from 0"},
      {"float seed", small_job + "seed: 1.0\n", "15:seed: a whole number from 0"},
      {"quoted seed", small_job + "seed: '1'\n", "15:seed: a whole number"},
      {"no threads", small_job + "execution: {threads_per_rank: 0}\n", "from 1 to 1024"},
      {"overflowing tokens", small_job + "execution: {batch_tokens: 99999999999999999999}\n", "from 1 to 16777216"},
      {"tensor parallel", small_job + "execution: {tensor_parallel: 65}\n", "from 1 to 64"},
      {"yes as boolean", small_job + "priors: {mask: yes}\n", "Did you mean 'true'?"},
      {"empty measures", small_job + "measures: []\n", "15:measures: the list is empty"},
      {"measure twice", small_job + "measures: [set, set]\n", "'set' stands twice"},
      {"empty groups", change("traits: [[weak, strong]]", "traits: []"), "11:axes.traits: the list is empty"},
      {"empty word", change("[[weak, strong]]", "[['', strong]]"), "the text is empty"},
      {"no axes", "schema: stereosweep/1\nname: a\nmodel: m\nprobe: association\n", "the key 'axes' is missing"},
      {"duplicate label", change("singular: man, plural: men", "singular: man, plural: women"),
       "8:axes.groups[1]: the label 'women' stands twice"},
      {"group without forms", change("singular: man, plural: men, ", ""), "neither 'singular' nor 'plural'"},
      {"reserved label", change("plural: men", "plural: men, label: prior_mask"), "is reserved"},
      {"mask in group", change("plural: men", "plural: '[MASK]'"), "would be taken for a mask"},
      {"brace in group", change("plural: men", "plural: '{trait}'"), "would be taken for a mask or a placeholder"},
      {"mask in word", change("[[weak, strong]]", "[[weak, '<mask>']]"), "11:axes.traits[0]: '<mask>' in '<mask>'"},
      {"brace in word", change("[[weak, strong]]", "[['{trait}', strong]]"),
       "would be taken for a mask or a placeholder"},
      {"mask in prior", small_job + "priors: {word: ['[MASK]', people]}\n", "15:priors.word: '[MASK]' in '[MASK]'"},
      {"line break", change("plural: men", "plural: \"m\\nen\""), "line break"},
      {"outer space", change("plural: men", "plural: 'men '"), "white space"},
      {"no trait", change("{group} are {trait}.", "{group} are."), "13:axes.templates[0]: 0 times {trait}"},
      {"no group", change("{group} are {trait}.", "They are {trait}."), "0 times {group}"},
      {"two groups", change("{group} are {trait}.", "{group} {a group} {trait}."), "2 times {group}"},
      {"other placeholder", change("{group} are {trait}.", "{group} are {trait} {x}."), "unknown placeholder"},
      {"open brace", change("{group} are {trait}.", "{group} are {trait} {."), "unknown placeholder"},
      {"mask in template", change("{group} are {trait}.", "{group} {trait} [MASK]."), "Did you mean '{trait}'?"},
      {"article in plural", change("text: \"{group} are", "form: plural, text: \"{a group} are"), "plural form"},
      {"missing form", change("{label: plain,", "{label: plain, form: singular,") + "", ""},
      {"missing singular", with(change("singular: man, ", ""), "{label: plain,", "{label: plain, form: singular,"),
       "asks for a singular, and 'men' has none"},
      {"unknown pair", change("{domains: all}", "{pairs: [[women, wmen]]}"), "unknown group 'wmen'"},
      {"nothing to cross", change("{domains: all}", "{both_orders: false}"), "neither 'pairs' nor 'domains' is given"},
      {"unknown exclusion", change("{domains: all}", "{exclusions: [[women, Blak people]]}"),
       "Did you mean 'Black people'?"},
      {"unknown domain", change("{domains: all}", "{domains: [[gendr, race]]}"), "Did you mean 'gender'?"},
      {"domain with itself", change("{domains: all}", "{domains: [[race, race]]}"), "crossed with itself"},
      {"pair with itself", change("{domains: all}", "{pairs: [[men, men]]}"), "combined with itself"},
      {"one twice", change("{domains: all}", "{pairs: [[men, women, men]]}"), "'men' is combined with itself"},
      {"too many", change("{domains: all}", "{pairs: [[men, women, a, b, c, d]]}"), "two to 5 texts is expected"},
      {"one alone", change("{domains: all}", "{domains: [[race]]}"), "two to 5 texts is expected"},
      {"wrapper without prompt", change("rephrasings: none", "rephrasings: ['He says']"), "0 times {prompt}"},
      {"wrapper with two", change("rephrasings: none", "rephrasings: ['{prompt}{prompt}']"), "2 times {prompt}"},
      {"unknown alternative",
       change("rephrasings: none", "rephrasings: [{label: a, alternatives: {plan: '{group} {trait}'}}]"),
       "Did you mean 'plain'?"},
      {"uncovered template",
       change("rephrasings: none", "rephrasings: [{label: a, alternatives: {x: '{group} {trait}'}}]"),
       "no alternative for the template 'plain'"},
      {"unknown statistics template", small_job + "statistics: {templates: [plainn]}\n", "Did you mean 'plain'?"},
      {"sweep over name", small_job + "sweep: {name: [a, b]}\n", "cannot be swept"},
      {"empty sweep list", small_job + "sweep: {seed: []}\n", "the list is empty"},
      {"sweep of 10^9 jobs",
       small_job + "sweep: {seed: " + names("", 1000) + ", model.path: " + names("m", 1000) +
           ", execution.batch_tokens: " + names("", 1000) + "}\n",
       "more than 1000 jobs"},
      {"table that is missing", change("rephrasings: none", "x: {tsv: /no/such}"), "unknown key 'x'"},
  };
}

class Hostile : public ::testing::TestWithParam<Case> {};

TEST_P(Hostile, is_refused_quickly_with_the_reason) {
  const JobFolder folder;
  const ProcessorTime taken;
  const std::string report = folder.complaint(GetParam().text);
  EXPECT_LT(taken.seconds(), 1.0);
  if (GetParam().expected.empty()) {
    EXPECT_EQ(report, "");
  } else {
    EXPECT_THAT(report.substr(0, 5000), HasSubstr(GetParam().expected));
  }
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name;
  for (const char c : info.param.name) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Structure, Hostile, ::testing::ValuesIn(structure_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(Values, Hostile, ::testing::ValuesIn(value_cases()), case_name);

TEST(HostileProduct, ten_to_the_twenty_four_cells_are_refused_before_anything_is_expanded) {
  const JobFolder folder;
  const auto numbered = [](const std::string& before, int count, const std::string& after) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      list += "    - '" + before + std::to_string(i) + after + "'\n";
    }
    return list;
  };
  const std::string text = "schema: stereosweep/1\nname: big\nmodel: m\nprobe: association\naxes:\n  groups:\n" +
                           numbered("g", 10'000, "") + "  templates:\n" + numbered("{group} {trait} ", 10'000, "") +
                           "  rephrasings:\n" + numbered("{prompt} ", 10'000, "") + "  traits: [[weak, strong]]\n";
  const ProcessorTime taken;
  EXPECT_THAT(folder.complaint(text), HasSubstr("= 2,000,400,000,000 cells"));
  EXPECT_THAT(folder.complaint(text, {"execution.max_cells=4611686018427387904"}), "");
  EXPECT_LT(taken.seconds(), 2.0);  // twice
}

/// Long lists where a reader that compares all with all would take minutes.
TEST(HostileProduct, long_lists_are_read_in_linear_time) {
  const JobFolder folder;
  const auto numbered = [](const std::string& before, int count, const std::string& after) {
    std::string list;
    for (int i = 0; i < count; ++i) {
      list += before + std::to_string(i) + after;
    }
    return list;
  };
  const std::string head = "schema: stereosweep/1\nname: big\nmodel: m\nprobe: association\naxes:\n";
  const std::string groups = "  groups: [women]\n";
  const std::string traits = "  traits: [[weak, strong]]\n";
  const std::string templates = "  templates: ['{group} {trait}']\n";
  const std::string texts[] = {
      head + groups + templates + "  traits: [{left: [" + numbered("l", 45'000, ",") + "], right: [" +
          numbered("r", 45'000, ",") + "]}]\n",
      head + traits + templates + "  groups:\n" + numbered("  - {plural: p, label: p", 10'000, ", domain: x}\n") +
          "  intersections: {exclusions: [" + numbered("[p", 20'000, ", women], ") + "]}\n",
      head + groups + traits + "  templates:\n" + numbered("  - {text: '{group} {trait}', label: t", 10'000, "}\n") +
          "  rephrasings: [{label: r, alternatives: {" + numbered("t", 10'000, ": '{trait} {group}', ") + "}}]\n",
      head + groups + traits + "  templates:\n" + numbered("  - {text: '{group} {trait}', label: t", 8'000, "}\n") +
          "  rephrasings:\n" + numbered("  - {label: r", 8'000, ", alternatives: {x: '{trait} {group}'}}\n"),
  };
  for (const auto& text : texts) {
    const ProcessorTime taken;
    folder.complaint(text, {"execution.max_cells=4611686018427387904"});
    EXPECT_LT(taken.seconds(), 1.0) << text.substr(0, 200);
  }
  std::string many = "  groups:\n";
  for (int i = 0; i < 15'000; ++i) {
    many += "  - {domain: d" + std::to_string(i) + ", plural: p" + std::to_string(i) + "}\n";
  }
  EXPECT_THAT(folder.complaint(head + traits + templates + many + "  intersections: {domains: all}\n"),
              HasSubstr("15000 domains to cross"));
}

/// Random damage: whatever comes out, it is a job that dumps and loads back to itself, or an InputError.
TEST(HostileFuzz, damaged_jobs_load_to_a_fixed_point_or_are_refused) {
  const JobFolder folder;
  std::mt19937 random(20220710);
  const std::string pieces[] = {"&a ", "*a",  "!!x ", "- ", "{",   "}",   "[",        "]",     ": ",   "\n",
                                "  ",  "'",   "\"",   "#",  "|\n", ">\n", "? ",       ",",     "null", "~",
                                "-1",  "1e9", "\t",   "%",  "@",   "`",   "\xC3\xA9", "\\x00", "---\n"};
  int num_loaded = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string text = small_job;
    for (auto damage = 1 + random() % 3; damage > 0; --damage) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text.erase(at, 1 + random() % 8);
          break;
        case 1:
          text.insert(at, pieces[random() % std::size(pieces)]);
          break;
        default:
          text[at] = static_cast<char>(random() % 256);
      }
    }
    try {
      const auto jobs = folder.load(text);
      for (const auto& job : jobs) {
        ASSERT_EQ(load_resolved(canonical_dump(job), "dump"), job) << text;
      }
      ++num_loaded;
    } catch (const base::InputError&) {
      continue;
    }
  }
  EXPECT_GT(num_loaded, 50);
}

TEST(Hostile, nobody_lists_millions_of_intersections) {
  const JobFolder folder;
  std::string groups;
  for (int group = 0; group < 55; ++group) {
    const auto name = std::to_string(group);
    groups += (group == 0 ? "{plural: g" : ", {plural: g") + name + ", domain: d" + std::to_string(group % 5) +
              ", adjective: a" + name + "}";
  }
  const std::string crossed = "groups: [" + groups + "], intersections: {domains: [[d0, d1, d2, d3, d4]]}";
  const std::string head = "schema: stereosweep/1\nname: n\nmodel: m\nprobe: ";
  const std::string jobs[] = {
      head + "association\naxes: {" + crossed + ", traits: [[weak, strong]], templates: ['{group} are {trait}.']}\n",
      head + "contexts\ncorpus: {files: [c.txt]}\naxes: {tests: [{" + crossed +
          ", traits: [{left: [weak, timid], right: [strong, bold]}]}]}\n"};
  for (const auto& job : jobs) {
    EXPECT_THAT(folder.complaint(job), HasSubstr("up to 19,326,175 groups and intersections (limit: 1,000,000)"));
  }
}

}  // namespace
}  // namespace stereosweep::config
