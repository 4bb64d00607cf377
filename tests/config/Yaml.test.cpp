#include "config/yaml/Yaml.hpp"

#include <gmock/gmock.h>

#include <chrono>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Yaml, keeps_lines_styles_and_order) {
  base::Problems problems;
  const Node node = parse_yaml("a: 1\nb:\n  - x\n  - \"2\"\n  - ~\nc: {d: 'e'}\n", "f", problems);
  ASSERT_TRUE(problems.empty());
  EXPECT_THAT(node.keys, ElementsAre("a", "b", "c"));
  EXPECT_EQ(node.children[0].style, Node::Style::plain);
  EXPECT_EQ(node.children[1].children[1].style, Node::Style::verbatim);
  EXPECT_EQ(node.children[1].children[1].line, 4);
  EXPECT_EQ(node.children[1].children[2].kind, Node::Kind::null);
  EXPECT_EQ(node.find("c")->find("d")->place("c.d").text(), "f:6:c.d");
}

TEST(Yaml, drops_one_byte_order_mark_and_takes_carriage_returns) {
  base::Problems problems;
  const Node node = parse_yaml(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: x\r\n",
      "f", problems);
  ASSERT_TRUE(problems.empty());
  EXPECT_THAT(node.keys, ElementsAre("a", "b"));
  EXPECT_EQ(node.children[1].value, "x");
}

TEST(Yaml, several_faults_are_reported_together) {
  base::Problems problems;
  parse_yaml("a: &x 1\nb: !t 2\nc: 3\nc: 4\nd: *x\n", "f", problems);
  EXPECT_THAT(problems.lines(), ElementsAre(HasSubstr("f:1:a: anchors"), HasSubstr("f:2:b: tags"),
                                            HasSubstr("f:4:c: the key 'c' stands twice"), HasSubstr("f:5:d: alias")));
}

std::string value_of(const std::string& text) {
  base::Problems problems;
  const Node node = parse_yaml("a: " + text + "\n", "f", problems);
  return problems.empty() ? node.children.at(0).value : base::join(problems.lines(), "\n");
}

TEST(Yaml, pairs_of_escapes_are_one_character) {
  EXPECT_EQ(value_of(R"("x \ud83d\ude00 \uD83D\uDE01\" y")"), "x \U0001F600 \U0001F601\" y");
  EXPECT_EQ(value_of(R"("\ud834\udd1e" # "\ud834\udd1e")"), "\U0001D11E");
  EXPECT_EQ(value_of(R"("\u00e9\ud83d\ude00\u00e9")"), "\u00e9\U0001F600\u00e9");
  EXPECT_EQ(value_of(R"('\ud83d\ude00')"), R"(\ud83d\ude00)") << "no escapes in single quotes";
  EXPECT_EQ(value_of(R"("\\ud83d\\ude00")"), R"(\ud83d\ude00)") << "an escaped backslash begins none";
  EXPECT_THAT(value_of(R"("\ud83d")"), HasSubstr("names no character"));
  EXPECT_THAT(value_of(R"("\ude00\ud83d")"), HasSubstr("names no character"));
  EXPECT_THAT(value_of(R"("\ud83d\ud83d\ude00")"), HasSubstr("names no character"));
  base::Problems problems;
  const Node node = parse_yaml("a: \"\\ud83d\\ude00\"\nb: ['\\ud83d', \"\\ud83d\\ude02\"]\n", "f", problems);
  ASSERT_TRUE(problems.empty());
  EXPECT_EQ(node.children[1].children[0].value, "\\ud83d");
  EXPECT_EQ(node.children[1].children[1].value, "\U0001F602");
}

TEST(Yaml, pairs_outside_of_double_quotes_are_no_escapes_beside_any_others) {
  base::Problems problems;
  const Node node = parse_yaml(
      R"(["\\U0001f600\ud83d\ude00", '\U0001f600 \ud83d\uDE00\\', \uD83D\ude00, "\U0001f601", 'it''s \ud83d\ude00'])",
      "f", problems);
  ASSERT_TRUE(problems.empty()) << problems.lines().front();
  EXPECT_THAT(base::mapped(node.children, &Node::value),
              ElementsAre("\\U0001f600\U0001F600", R"(\U0001f600 \ud83d\uDE00\\)", R"(\uD83D\ude00)", "\U0001F601",
                          R"(it's \ud83d\ude00)"));
  EXPECT_EQ(value_of("|\n  \\ud83d\\ude00\n  \\U0001f600"), "\\ud83d\\ude00\n\\U0001f600\n");
  EXPECT_EQ(value_of("| # \\ud83d\\ude00\n  \\U0001f600 \\ud83d\\ude00"), "\\U0001f600 \\ud83d\\ude00\n");
  EXPECT_EQ(value_of(R"(! "\ud83d\ude00 \\U0001f600")"), "\U0001F600 \\U0001f600");
}

TEST(Yaml, a_list_of_pairs_is_read_once) {
  constexpr std::size_t count = 3000;  // of texts as Python's json.dumps writes them
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += "- \"\\ud83d\\ude00\"\n";
  }
  base::Problems problems;
  const auto begin = std::chrono::steady_clock::now();
  const Node node = parse_yaml(text, "f", problems);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(base::mapped(node.children, &Node::value), std::vector<std::string>(count, "\U0001F600"));
}

TEST(Yaml, line_breaks_at_the_end_of_a_quoted_text_stay) {
  EXPECT_EQ(value_of("'\n\n  '"), "\n");
  EXPECT_EQ(value_of("'\u00e9\U0001F600''\n \t\n\r\n\n '"), "\u00e9\U0001F600'\n\n\n");
  EXPECT_EQ(value_of("\"x\\\"\n\n\n\n \""), "x\"\n\n\n");
  EXPECT_EQ(value_of("\"x\\n\n\n\n \""), "x\n\n\n");
  EXPECT_EQ(value_of("\"x\\\n\n\n \""), "x\n\n");
  EXPECT_EQ(value_of("\"x\n \""), "x ");
  EXPECT_EQ(value_of("|+\n  x\n\n"), "x\n\n\n") << "one of the three is that of value_of";
  base::Problems problems;
  const Node node = parse_yaml("- [\u00e9, '\n\n ', \"\u00e9\n\n\n \"]\n- |+\n  x\n", "f", problems);
  EXPECT_EQ(node.children.at(0).children.at(1).value, "\n");
  EXPECT_EQ(node.children.at(0).children.at(2).value, "\u00e9\n\n");
  EXPECT_EQ(node.children.at(1).value, "x\n") << "no break that the file does not have";
}

std::string fault_of(const std::string& text) {
  base::Problems problems;
  parse_yaml(text, "f", problems);
  return base::join(problems.lines(), "\n");
}

TEST(Yaml, usual_faults_are_told_in_plain_words) {
  EXPECT_THAT(fault_of("a:\n  b: 1\n\tc: 2\n"), HasSubstr("f:3: a tab in the indentation"));
  EXPECT_THAT(fault_of("a: 1\n\tb: 2\n"), HasSubstr("a tab in the indentation"));
  EXPECT_THAT(fault_of("a:\n  b: 1\n c: 2\n"), HasSubstr("f:3: the line does not fit the mapping above it"));
  EXPECT_THAT(fault_of("a:\n  - b\n - c\n"), HasSubstr("f:3: the line does not fit"));
  EXPECT_THAT(fault_of("a: b: c\n"), HasSubstr("f:1: a ':' stands where no key can be"));
  EXPECT_THAT(fault_of("a: {b: 1\nc: 2\n"), HasSubstr("is not closed"));
  EXPECT_THAT(fault_of("a: 'b\nc: 2\n"), HasSubstr("a quote is not closed"));
}

TEST(Yaml, texts_that_begin_with_a_mark_are_to_be_quoted) {
  for (const std::string text : {"{group} are {trait}.", "[MASK] are {group}.", "*stars* shine", "&c is short",
                                 "!now or never", "%s is nothing", "@home they rest", "`ticks` too"}) {
    const auto advice = HasSubstr("in quotes.");
    EXPECT_THAT(fault_of("templates:\n  - " + text + "\n  - other\n"), advice) << text;
    EXPECT_THAT(fault_of("- {label: a, kind: b}\n- text: " + text + "\n  form: plural\n"), advice) << text;
  }
}

TEST(Yaml, emits_what_it_reads) {
  Node root = Node::map();
  root.add("empty_list", Node::list());
  root.add("empty_map", Node::map());
  Node& list = root.add("list", Node::list());
  list.add(Node::text("a: b"));
  list.add(Node::plain("17"));
  Node& inner = list.add(Node::list());
  inner.add(Node::text("\n\t\"\\"));
  list.add(Node::map()).add("odd key: ~", Node::text(""));
  base::Problems problems;
  const std::string text = emit_yaml(root);
  const Node again = parse_yaml(text, "f", problems);
  ASSERT_TRUE(problems.empty()) << problems.lines().front() << text;
  EXPECT_EQ(emit_yaml(again), text);
  EXPECT_EQ(again.find("list")->children[2].children[0].value, "\n\t\"\\");
  EXPECT_EQ(again.find("list")->children[1].style, Node::Style::plain);
}

TEST(Yaml, quotes_what_would_mean_something_else_without) {
  for (const std::string text : {"--- z", "...", "\xEF\xBB\xBFz", "-", "- z", "z: z", "z #z", "*z", "z\nz"}) {
    Node list = Node::list();
    list.add(Node::plain(text));
    for (const Node& node : {Node::plain(text), list}) {
      base::Problems problems;
      const Node again = parse_yaml(emit_yaml(node), "f", problems);
      EXPECT_TRUE(problems.empty()) << text;
      EXPECT_EQ((again.kind == Node::Kind::list ? again.children.at(0) : again).value, text);
    }
  }
  for (const std::string text : {"17", "-1.5e-3", "true", "ilps*", "stereosweep/1", "3x"}) {
    EXPECT_EQ(emit_yaml(Node::plain(text)), text);
  }
}

}  // namespace
}  // namespace stereosweep::config
