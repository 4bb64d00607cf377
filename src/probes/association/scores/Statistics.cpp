#include "probes/association/scores/Statistics.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/Lists.hpp"
#include "base/Packing.hpp"
#include "base/text/Text.hpp"
#include "parallel/Messenger.hpp"
#include "probes/ProbeKind.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::probes::association {
namespace {

// Slabs of a result under several ranks: all but rank zero read and fold them, rank zero takes them in their order. So
// every number is made by the same steps as on one rank.

constexpr std::uint32_t slab_kind = 1;
constexpr std::uint32_t taken_kind = 2;
constexpr std::uint64_t slabs_ahead = 2;

auto fields_of(base::Either<ScoreSlab> auto& slab) {
  const auto of_part = [](auto& part) {
    return std::tie(part.subject, part.first_sentence, part.num_sentences, part.values, part.statuses);
  };
  return std::tuple_cat(of_part(slab.poles), of_part(slab.pairs), std::tie(slab.counts.cells, slab.counts.scores));
}

/// On rank zero: `use(slab)` of all slabs in canonical order.
void receive_slabs(const parallel::Communicator& world, std::uint64_t num_slabs,
                   const std::function<void(const ScoreSlab&)>& use) {
  parallel::Messenger messenger(world);
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  for (std::uint64_t place = 0; place < num_slabs; ++place) {
    const auto source = 1 + static_cast<int>(place % num_shares);
    const auto bytes = messenger.wait_for(source);
    messenger.send(source, taken_kind);
    ScoreSlab slab;
    base::unpack(bytes, fields_of(slab));
    use(slab);
  }
  messenger.wait_until_sent();
}

/// The labels of the parts of an intersection, joined by "+" in `components` and by " x " in its own label. So a plus
/// that the label has, too, is of a part's label.
std::vector<std::string> parts_of(const std::string& components, const std::string& label) {
  std::vector<std::string> parts(1);
  for (std::size_t at = 0, in_label = 0; at < components.size(); ++at) {
    if (components[at] == '+' && label.compare(in_label, 3, " x ") == 0) {
      parts.emplace_back();
      in_label += 3;
    } else {
      parts.back() += components[at];
      ++in_label;
    }
  }
  return parts;
}

/// Groups and intersections, with what they are made of.
results::AxisSchema subject_axis(const results::AxisSchema& groups) {
  const auto& kinds = coordinate_of(groups, "kind");
  const auto& domains = coordinate_of(groups, "domain");
  const auto& components = coordinate_of(groups, "components");
  results::AxisSchema::Coordinate domain{"domain", "domain of the group; of an intersection's groups, joined by x", {}};
  results::AxisSchema::Coordinate first{"first", "label of the group; of an intersection's first group", {}};
  results::AxisSchema::Coordinate second{"second", "label of an intersection's second group; empty: a group", {}};
  std::map<std::string, std::string> domain_of;
  std::vector<std::vector<std::string>> parts;
  for (std::size_t index = 0; index < groups.labels.size(); ++index) {
    const bool is_crossed = kinds[index] == "intersection";
    parts.push_back(is_crossed ? parts_of(components[index], groups.labels[index]) : std::vector{components[index]});
    const auto known = [&](const std::string& part) { return domain_of[part]; };
    domain.values.push_back(is_crossed ? base::join(base::mapped(parts.back(), known), " x ") : domains[index]);
    domain_of.try_emplace(parts.back().front(), domains[index]);
    first.values.push_back(parts.back().front());
    second.values.push_back(parts.back().size() > 1 ? parts.back()[1] : "");
  }
  results::AxisSchema axis{
      "subject",
      "group or intersection",
      groups.labels,
      {{"kind", "group or intersection", kinds}, std::move(domain), std::move(first), std::move(second)}};
  add_further_parts(axis, parts);
  return axis;
}

results::AxisSchema measure_axis(const std::vector<Variant>& variants) {
  return axis_of("measure", "variant of the score and its prior", variants, &Variant::label,
                 {{"units", "unit of the score", [](const auto&) { return "nat"; }},
                  {"description", "definition",
                   [](const auto& variant) { return std::string(stats::description_of(variant.measure)); }},
                  {"variant", "variant of the score",
                   [](const auto& variant) { return std::string(stats::name_of(variant.measure)); }},
                  {"prior", "what stands in the group's place where the score is zero", &Variant::prior}});
}

/// Cells by status, and undefined scores by measure and reason.
std::string text_of(const StatusCounts& counts, const ScoreReader& reader, const results::ShownMeasures& shown) {
  results::TerminalTable undefined({"scores that do not exist", "reason", "number"});
  std::size_t num_reasons = 0;
  for (std::size_t variant = 0; variant < counts.scores.size(); ++variant) {
    const auto label = reader.variants()[variant].label();
    for (std::size_t reason = 1; shown.holds(label) && reason < counts.scores[variant].size(); ++reason) {
      if (const auto number = counts.scores[variant][reason]; number > 0) {
        undefined.add({label, std::string(stats::score_status_names[reason]), base::with_thousands(number)});
        ++num_reasons;
      }
    }
  }
  return cells_text(reader.cell_status_names(), counts.cells) + "\n" +
         (num_reasons > 0 ? undefined.text() : std::string("Every score of the measures above exists.\n"));
}

}  // namespace

results::ScoreTableAxes score_axes(const results::RawSchema& schema) {
  return {measure_axis(variants_of(schema)), subject_axis(results::group_axis(schema)),
          schema.outer_axes.at(1),           schema.outer_axes.at(2),
          results::ScoreTable::no_axis(4),   TraitPairs(schema.inner_axis("word")).item_axis()};
}

std::string write_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                             const results::StatisticsTarget& target, const results::ShownMeasures& shown,
                             const parallel::Communicator& world) {
  const ScoreReader reader(file, word_aggregate);
  results::StatisticsFile written(file, Association::probe_name, target);
  written.root().write_attribute("word_aggregate", word_aggregate == Statistics::Aggregate::median ? "median" : "mean");
  auto counts = reader.no_counts();
  {
    auto axes = score_axes(file.schema());
    results::ScoreTableWriter pairs(written.layout(), axes, "score", written.left_out());
    axes.back() = reader.traits().pole_axis();
    results::ScoreTableWriter poles(written.layout(), axes, results::pole_score_name, written.left_out());
    const auto use = [&](const ScoreSlab& slab) {
      pairs.add(slab.pairs);
      poles.add(slab.poles);
      counts.add(slab.counts);
    };
    if (world.size() > 1) {
      receive_slabs(world, reader.num_slabs(), use);
    } else {
      reader.for_each(use);
    }
    pairs.flush();
    poles.flush();
  }
  written.commit();
  return text_of(counts, reader, shown);
}

/// Sends this rank's share, at most two slabs ahead of what rank zero has taken.
void assist_statistics(const results::ResultFile& file, Statistics::Aggregate word_aggregate,
                       const parallel::Communicator& world) {
  parallel::Messenger messenger(world);
  std::uint64_t sent = 0;
  const auto share = static_cast<std::uint64_t>(world.rank()) - 1;
  const auto num_shares = static_cast<std::uint64_t>(world.size()) - 1;
  const auto send = [&](const ScoreSlab& slab) {
    auto bytes = base::packed(fields_of(slab));
    if (sent++ >= slabs_ahead) {
      messenger.wait_for(0);
    }
    messenger.send(0, slab_kind, std::move(bytes));
  };
  ScoreReader(file, word_aggregate).for_each(send, share, num_shares);
  messenger.wait_until_sent();
  for (auto left = std::min(sent, slabs_ahead); left > 0; --left) {
    messenger.wait_for(0);
  }
}

std::string status_text(const results::ResultFile& file) {
  const ScoreReader reader(file, Statistics::Aggregate::median);
  auto counts = reader.no_counts();
  reader.for_each([&](const ScoreSlab& slab) { counts.add(slab.counts); });
  return text_of(counts, reader, {});
}

}  // namespace stereosweep::probes::association
