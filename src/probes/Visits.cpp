#include "probes/Visits.hpp"

#include <algorithm>
#include <string>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "findings/decisions/Decisions.hpp"
#include "findings/decisions/SparseDesign.hpp"
#include "probes/ProbeKind.hpp"

namespace stereosweep::probes {

std::vector<std::uint8_t> visits_of(const sweep::Job& job) {
  const auto& kind = kind_of(job);
  if (const auto asked = kind.asked(job); asked.decide) {
    return findings::visiting_rounds(kind.score_axes(job), asked, job.seed, kind.left_out(job));
  }
  const auto design = job.design();
  return design ? findings::visits_of_design(kind.score_axes(job), *design, job.seed) : std::vector<std::uint8_t>();
}

sweep::BlockPlan blocks_to_ask(const sweep::Job& job, const results::RawSchema& schema, sweep::Outermost outermost) {
  const auto contexts_per_block = std::max<std::int64_t>(job.execution.contexts_per_block, 0);
  sweep::BlockPlan all(product_of(schema), static_cast<std::uint64_t>(contexts_per_block), outermost);
  auto visits = visits_of(job);
  if (visits.empty()) {
    return all;
  }
  // texts at a time are worth more than blocks of a layer, which a job of more layers could reuse
  const bool fills = job.design() && kind_of(job).samples_text(job);
  for (auto& visit : visits) {
    visit = fills && visit != sweep::never_visited ? std::uint8_t{0} : visit;
  }
  return all.dealt(base::mapped(sentences_of(schema), [&](std::uint64_t sentence) { return visits.at(sentence); }),
                   fills ? sweep::Outermost::together : sweep::Outermost::apart);
}

std::size_t outer_axis(const results::RawSchema& schema, const char* name) {
  const auto& axes = schema.outer_axes;
  const auto found = std::ranges::find(axes, name, &results::AxisSchema::name);
  base::refuse_if(found == axes.end(), "this probe cannot ask in rounds",
                  std::string("its contexts have no axis '") + name + "'");
  return static_cast<std::size_t>(found - axes.begin());
}

std::vector<std::uint64_t> sentences_of(const results::RawSchema& schema) {
  const auto template_axis = outer_axis(schema, "template");
  const auto rephrasing_axis = outer_axis(schema, "rephrasing");
  auto lengths = product_of(schema).lengths();
  lengths.front() = 1;
  const sweep::Product inside(lengths);
  std::vector<std::uint64_t> sentences(inside.num_contexts());
  for (std::uint64_t context = 0; context < sentences.size(); ++context) {
    const auto at = inside.coordinates(context);
    sentences[context] = at[template_axis] * lengths[rephrasing_axis] + at[rephrasing_axis];
  }
  return sentences;
}

}  // namespace stereosweep::probes
