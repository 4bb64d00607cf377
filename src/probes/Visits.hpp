// Which contexts of its product a probe asks, and which of them together: all; those of one round together, where a run
// stops asking once it knows (statistics.decide); or those alone that a sparse design deals (axes.design).
#pragma once

#include <cstdint>
#include <vector>

#include "results/RawBlock.hpp"
#include "sweep/Job.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::probes {

/// [template x rephrasings + rephrasing]: the round in which a sentence is asked, sweep::never_visited where it is
/// not; empty: the job asks all at once. Throws InputError with names that its contrasts lack.
std::vector<std::uint8_t> visits_of(const sweep::Job& job);

/// Blocks of the product of the outer axes as the job has them asked. Throws as visits_of, and where the probe's
/// contexts have no templates and rephrasings that could be dealt.
sweep::BlockPlan blocks_to_ask(const sweep::Job& job, const results::RawSchema& schema,
                               sweep::Outermost outermost = sweep::Outermost::apart);

/// Place of an outer axis. Throws InputError where there is none.
std::size_t outer_axis(const results::RawSchema& schema, const char* name);

/// Of each context of an outermost value the place of its sentence (template x rephrasings + rephrasing).
std::vector<std::uint64_t> sentences_of(const results::RawSchema& schema);

}  // namespace stereosweep::probes
