// What `stats` concludes of score tables that standard input gives, for tests/bench/compare_statistics.py, which
// computes the same with other libraries. A line is one JSON document:
//
//     {"target": "a.h5", "seed": 1, "statistics": "{means: all}", "tables": [{"axes": [{"name": "measure", "labels":
//     ["a"], "coordinates": {"units": ["1"]}}, ...], "values": [0.5, null, ...], "statuses": [0, 2, ...]}]}
//
// `statistics`: YAML, as in a job. Values and statuses: [measure, subject, template, rephrasing, replicate, item],
// null: no score. One table: its score table and conclusions go to the target; several: their comparison as runs.
#include <array>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/text/Json.hpp"
#include "config/ProbeFormat.hpp"
#include "config/yaml/Yaml.hpp"
#include "findings/Conclusions.hpp"
#include "findings/RandomScores.hpp"
#include "findings/runs/RunComparison.hpp"
#include "hdf5/File.hpp"

namespace {

using namespace stereosweep;
using base::Json;

findings::RandomScores table_of(const Json& document) {
  findings::RandomScores random({1, 1, 1, 1, 1, 1});
  auto& table = random.table;
  for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
    const auto& given = document.at("axes").at(axis);
    table.axes[axis].labels = given.at("labels").get<std::vector<std::string>>();
    for (const auto& [name, values] : given.at("coordinates").items()) {
      table.axes[axis].coordinates.push_back({name, name, values.get<std::vector<std::string>>()});
    }
  }
  table.resize();
  const auto& values = document.at("values");
  const auto& statuses = document.at("statuses");
  base::refuse_if(values.size() != table.values.size() || statuses.size() != table.values.size(),
                  "a table has another number of scores than its axes say", std::to_string(values.size()));
  for (std::size_t place = 0; place < table.values.size(); ++place) {
    table.values[place] = values[place].is_null() ? stats::nan : values[place].get<double>();
    table.statuses[place] = static_cast<results::ScoreStatus>(statuses[place].get<int>());
  }
  return random;
}

sweep::Comparison comparison_of(const std::string& text) {
  base::Problems problems;
  const auto node = config::parse_yaml(text, "statistics", problems);
  config::Pieces pieces(".", config::Pieces::Access::files);
  sweep::Comparison comparison;
  config::Fields fields(node, "statistics", problems, "", &pieces);
  config::comparison_keys(fields, comparison);
  fields.finish();
  problems.raise_if_any("statistics cannot be read:");
  return comparison;
}

void conclude_one(const findings::RandomScores& random, const sweep::Comparison& comparison, std::uint64_t seed,
                  const std::string& target) {
  auto file = hdf5::File::create(target);
  {
    results::Layout layout(file.root());
    results::write_score_table(layout, random.table);
    for (const auto& finding : findings::conclude(random.scores(), comparison, seed)) {
      findings::write(layout, finding);
    }
  }
  file.finish();
}

void compare_several(const std::vector<findings::RandomScores>& tables, const sweep::Comparison& comparison,
                     std::uint64_t seed, const std::string& target) {
  results::AxisSchema axis{"run", "run", {}, {}};
  std::vector<findings::RunScores> runs;
  for (const auto& table : tables) {
    axis.labels.push_back("run" + std::to_string(runs.size()));
    runs.push_back({axis.labels.back(), "one", table.scores()});
  }
  const findings::JoinedRuns joined(std::move(runs));
  const auto found = findings::compare_runs(joined, {.run_axis = axis, .comparison = comparison, .seed = seed});
  findings::write_runs(target, joined, axis, found);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const auto document = base::parse_json(line, "standard input");
      const auto comparison = comparison_of(document.at("statistics").get<std::string>());
      std::vector<findings::RandomScores> tables;
      for (const auto& table : document.at("tables")) {
        tables.push_back(table_of(table));
      }
      const auto seed = document.at("seed").get<std::uint64_t>();
      const auto target = document.at("target").get<std::string>();
      tables.size() == 1 ? conclude_one(tables.front(), comparison, seed, target)
                         : compare_several(tables, comparison, seed, target);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n%s\n", error.what(), line.substr(0, 300).c_str());
      return 1;
    }
  }
  return 0;
}
