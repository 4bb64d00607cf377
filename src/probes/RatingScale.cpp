#include "probes/RatingScale.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/text/Text.hpp"

namespace stereosweep::probes {
namespace {

using config::Node;

/// An option as it is written.
struct WrittenOption {
  std::string text;
  std::string value;
  std::string note;
  static void each_key(auto& self, auto& keys) {
    keys.required_line("text", self.text);
    keys.required_line("value", self.value, "a number");
    keys.line("note", self.note, "stands in brackets where options are listed");
  }
};

std::optional<RatingOption> read_option(const Node& node, const std::string& key, base::Problems& problems) {
  WrittenOption option;
  if (node.kind == Node::Kind::scalar) {
    option.text = config::read_line(node, key, problems).value_or("");
    option.value = option.text;
  } else if (node.kind == Node::Kind::map) {
    config::read_fields(node, key, problems, option);
  } else if (const auto pair = config::read_two(node, key, problems)) {
    std::tie(option.text, option.value) = *pair;
  }
  if (option.text.empty() || option.value.empty()) {
    return std::nullopt;
  }
  const auto number = base::parse_double(option.value);
  if (!number) {
    problems.add(node.place(key), "'" + base::excerpt(option.value, 40) + "' is no number",
                 "an option is [text, value] or a plain number");
    return std::nullopt;
  }
  config::check_surface(node, key, option.text, problems);
  config::check_surface(node, key, option.note, problems);
  return RatingOption{option.text, *number, option.note};
}

Node dump_option(const RatingOption& option) {
  const auto value = base::format_double(option.value);
  return option.note.empty() ? config::texts({option.text, value})
                             : config::dump_fields(WrittenOption{option.text, value, option.note});
}

}  // namespace

std::vector<RatingOption> NumberScale::numbers() const {
  std::vector<RatingOption> all;
  const std::int64_t step = from < to ? 1 : -1;
  for (std::int64_t value = from; value != to + step; value += step) {
    const auto& note = value == std::min(from, to) ? low : value == std::max(from, to) ? high : "";
    all.push_back({std::to_string(value), static_cast<double>(value), note});
  }
  return all;
}

std::vector<RatingOption> read_options(const Node& node, const std::string& key, base::Problems& problems) {
  std::vector<RatingOption> options;
  if (!config::expect_kind(node, Node::Kind::list, key, problems, config::Emptiness::refused)) {
    return options;
  }
  config::each_entry(node, key, problems, [&](const Node& entry, const std::string& place) {
    if (auto option = read_option(entry, place, problems)) {
      const auto is_same = [&](const auto& other) {
        return other.text == option->text || other.value == option->value;
      };
      problems.add_if(std::ranges::any_of(options, is_same), entry.place(place),
                      "option '" + option->text + "' repeats a text or a value", "options must differ");
      options.push_back(std::move(*option));
    }
  });
  check_num_options(node.place(key), node.children.size(), problems);
  return options;
}

void check_num_options(const base::Place& place, std::size_t count, base::Problems& problems) {
  problems.add_if(count < 2 || count > 26, place, std::to_string(count) + " options", "2 to 26 are expected: A to Z");
}

Node dump_options(const std::vector<RatingOption>& options) { return config::list_of(options, dump_option); }

base::Json scale_schema(base::Json (*numbers)()) {
  const auto pair = config::pair_schema(config::text_schema());
  auto options =
      config::list_schema(config::either_schema({config::text_schema(), pair, config::fields_schema<WrittenOption>()}));
  options["minItems"] = 2;
  options["maxItems"] = 26;
  return config::either_schema({numbers(), std::move(options)});
}

}  // namespace stereosweep::probes
