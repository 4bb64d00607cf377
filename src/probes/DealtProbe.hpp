// The probe of a sweep that asks its contexts in rounds: the same queries and numbers, in blocks that hold contexts of
// one round. It knows no kind of probe, and a kind of probe knows nothing of rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "probes/Probe.hpp"

namespace stereosweep::probes {

/// `rounds`: [template x rephrasings + rephrasing], as findings::visiting_rounds gives them. Throws InputError where
/// the probe's contexts have no templates and rephrasings.
std::shared_ptr<const Probe> dealt(std::shared_ptr<const Probe> probe, const std::vector<std::uint8_t>& rounds);

/// Place of an outer axis. Throws InputError where there is none.
std::size_t outer_axis(const results::RawSchema& schema, const char* name);

/// Of each context of an outermost value the place of its sentence (template x rephrasings + rephrasing).
std::vector<std::uint64_t> sentences_of(const results::RawSchema& schema);

}  // namespace stereosweep::probes
