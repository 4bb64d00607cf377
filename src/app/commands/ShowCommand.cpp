#include <boost/program_options/value_semantic.hpp>

#include <iostream>
#include <string>
#include <vector>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "probes/ProbeKind.hpp"
#include "results/Layout.hpp"
#include "results/Reader.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

std::string head_text(const results::ResultFile& file) {
  std::string text = file.path().string() + "\n";
  for (const auto* name : {"title", "schema", "model", "model_revision", "model_storage", "adapter", "dtype",
                           "software_version", "created", "num_ranks", "hosts", "design"}) {
    if (const auto value = file.text(name)) {
      text += results::wrapped("  " + std::string(name) + ": " + base::printable(*value) + "\n", 2);
    }
  }
  const auto blocks = static_cast<std::uint64_t>(file.number("num_blocks").value_or(0));
  const auto scored = static_cast<std::uint64_t>(file.number("num_blocks_scored").value_or(0));
  return text + "  blocks: " + base::with_thousands(scored) + " of " + base::with_thousands(blocks) + " scored" +
         (file.has_stopped() ? ": complete, it stopped asking once all was decided\n"
          : file.complete()  ? ": complete\n"
                             : ": NOT complete\n");
}

std::string axes_text(const results::ResultFile& file) {
  results::TerminalTable table({"axis", "length", "first", "last"});
  for (const auto& axis : results::file_axes(file.schema())) {
    table.add({axis.name, base::with_thousands(axis.labels.size()), axis.labels.front(), axis.labels.back()});
  }
  return table.text();
}

std::string cubes_text(const results::ResultFile& file) {
  const auto& schema = file.schema();
  const auto outer = base::mapped(schema.outer_axes, &results::AxisSchema::name);
  results::TerminalTable table({"cube", "unit", "by", "what"});
  for (const auto& cube : schema.cubes) {
    table.add({cube.name, cube.units, base::join(cube.inner_axes, ", "), cube.long_name});
  }
  return "Numbers by " + base::join(outer, ", ") + ", and by further axes:\n\n" + table.text();
}

void add_show_options(options::options_description_easy_init add) {
  add("digest", "print only one SHA-256 of all raw numbers in canonical order: equal for any number of ranks");
  add("status", "print only the counts of cells and scores by status");
  add("answers", "print only sampled conversations, --top of them, and how they were read");
  add("group", options::value<std::vector<std::string>>(),
      "with --answers: only of this group; may stand several times");
  add("top", options::value<std::int64_t>()->default_value(5),
      "how many rows of each long table; the strongest associations per measure; conversations of --answers");
}

base::ExitCode execute_show(const CommandLine& line) {
  const auto top = line.number("top", 1);
  const results::ResultFile file(find_result(line.place));
  if (line.has("digest")) {
    std::cout << base::to_hex(results::digest_of_file(file)) << '\n';
    return base::ExitCode::done;
  }
  base::refuse_if(line.has("group") && !line.has("answers"), "--group without --answers", "it chooses conversations");
  if (line.has("answers")) {
    const auto groups = line.has("group") ? line.get<std::vector<std::string>>("group") : std::vector<std::string>();
    probes::kind_of(probe_of(file)).show_answers({.file = file, .groups = groups, .top = top});
    return base::ExitCode::done;
  }
  const bool only_status = line.has("status");
  if (!only_status) {
    std::cout << head_text(file) << '\n' << axes_text(file) << '\n' << cubes_text(file) << '\n';
  }
  if (!is_stage_file(file)) {
    probes::kind_of(probe_of(file))
        .show(file, only_status ? probes::Detail::status_only : probes::Detail::everything, top);
  }
  return base::ExitCode::done;
}

}  // namespace

const Command show_command{"show",
                           "what a result holds, its digest, its strongest associations",
                           "stereosweep show DIR_OR_FILE: what a result holds",
                           execute_show,
                           Places::one,
                           "run directory",
                           add_show_options};

}  // namespace stereosweep::app
