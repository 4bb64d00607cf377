#include "probes/interview/InterviewText.hpp"

#include <algorithm>
#include <cmath>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/interview/InterviewProbe.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::interview {
namespace {

/// Counts of each status with its share of what was asked.
std::string counts_line(const std::string& what, const std::vector<std::uint64_t>& counts,
                        const std::vector<std::string>& names) {
  const auto name_of = [&](std::size_t status) {
    return status < names.size() ? names[status] : std::string(results::not_scored);
  };
  std::uint64_t num_asked = 0;
  for (std::size_t status = 0; status < counts.size(); ++status) {
    num_asked += name_of(status) == "not_asked" ? 0 : counts[status];
  }
  std::string line = what + " (" + base::with_thousands(num_asked) + " asked):";
  for (std::size_t status = 0; status < counts.size(); ++status) {
    if (counts[status] > 0 && name_of(status) != "not_asked") {
      const auto share = static_cast<double>(counts[status]) / static_cast<double>(num_asked);
      line +=
          "  " + name_of(status) + " " + base::with_thousands(counts[status]) + " (" + results::percent(share) + ")";
    }
  }
  return results::wrapped(line, 2) + "\n";
}

std::string indented(const std::string& text) {
  std::string out;
  for (const auto& line : base::split(base::printable(text), '\n')) {
    out += results::wrapped("    " + line, 4) + "\n";
  }
  return out;
}

/// One round of one context.
std::string conversation_text(const results::RawSchema& schema, const results::RawBlock& block, std::size_t round) {
  const auto num_turns = schema.inner_axis("turn").labels.size();
  const auto text = [&](const char* name) -> const std::vector<std::string>& {
    return column_named<std::string>(block, schema, name);
  };
  const auto flag = [&](const char* name, std::size_t cell) {
    const auto index = cube_index(schema, name);
    return schema.cubes[index].flag_meanings.at(column_of<std::uint8_t>(block, index)[cell]);
  };
  std::string out;
  for (std::size_t turn = 0; turn < num_turns; ++turn) {
    const auto cell = round * num_turns + turn;
    const auto status = flag("answer_status", cell);
    if (status == "not_asked") {
      continue;
    }
    out += "  asked:\n" + indented(text("question")[turn]);
    out += status == "ok" ? "  answered (" + flag("answer_ending", cell) + "):\n" + indented(text("answer_text")[cell])
                          : "  no answer: " + status + "\n";
  }
  if (schema.find_cube("rating")) {
    const auto& items = schema.inner_axis("item").labels;
    std::string line;
    for (std::size_t item = 0; item < items.size(); ++item) {
      const auto cell = round * items.size() + item;
      const auto status = flag("rating_status", cell);
      const double value = column_named<double>(block, schema, "rating")[cell];
      if (status != "not_asked") {
        line += (line.empty() ? "" : ", ") + items[item] + " " +
                (std::isfinite(value) ? base::format_double(value) : status);
      }
    }
    out += line.empty() ? "" : results::wrapped("  read as: " + line, 4) + "\n";
  }
  return out;
}

/// Indices of the groups on the first axis; all where none is named.
std::vector<std::size_t> groups_of(const results::AxisSchema& axis, const std::vector<std::string>& names) {
  std::vector<std::size_t> groups;
  for (const auto& name : names) {
    const auto found = std::ranges::find(axis.labels, name);
    base::refuse_if(found == axis.labels.end(), "no group '" + name + "' in this result", "",
                    base::did_you_mean(name, axis.labels));
    groups.push_back(static_cast<std::size_t>(found - axis.labels.begin()));
  }
  for (std::size_t group = 0; names.empty() && group < axis.labels.size(); ++group) {
    groups.push_back(group);
  }
  return groups;
}

}  // namespace

std::string statuses_text(const InterviewResult& result) {
  std::string text = counts_line("turns", result.answer_counts, answer_status_names);
  if (std::ranges::any_of(result.rating_counts, [](auto count) { return count > 0; })) {
    text += counts_line("ratings", result.rating_counts, reading_names());
  }
  if (!result.keyword_counts.empty()) {
    text += counts_line("keyword lists", result.keyword_counts, reading_names());
  }
  const auto versions = rules_text(result);
  text += "answers were read by rules " + (versions.empty() ? "of no version" : versions) + "\n";
  if (has_other_rules(result)) {
    text += results::wrapped("WARNING: " + rules_warning(), 2) + "\n";
  }
  return text;
}

std::string rules_text(const InterviewResult& result) {
  return base::join(base::mapped(result.rules, [](auto version) { return std::to_string(version); }), ", ");
}

bool has_other_rules(const InterviewResult& result) {
  return std::ranges::any_of(result.rules, [](auto version) { return version != rules_version(); });
}

std::string rules_warning() {
  return "this program has rules " + std::to_string(rules_version()) +
         ": stereosweep stats DIR --reparse reads the texts again";
}

std::string answers_text(const AnswersRequest& request) {
  const auto& schema = request.file.schema();
  cube_index(schema, "answer_text");
  const auto per_group = request.file.contexts_per_subject();
  const auto num_rounds = schema.inner_axis("round").labels.size();
  const auto groups = groups_of(schema.outer_axes.at(0), request.groups);
  const auto product = product_of(schema);
  std::string text;
  std::uint64_t shown = 0;
  for (const auto group : groups) {
    for (std::uint64_t i = 0; i < per_group && shown < request.top; ++i) {
      const auto context = group * per_group + i;
      const auto at = product.coordinates(context);
      const auto block = request.file.read(context, 1);
      for (std::size_t round = 0; round < num_rounds && shown < request.top; ++round, ++shown) {
        std::vector<std::string> names;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
          names.push_back(schema.outer_axes[axis].labels[at[axis]]);
        }
        text += results::wrapped(base::join(names, " | ") + " | round " + std::to_string(round), 2) + "\n" +
                conversation_text(schema, block, round) + "\n";
      }
    }
  }
  return text + results::rest_text(shown, groups.size() * per_group * num_rounds, "conversations");
}

}  // namespace stereosweep::probes::interview
