// A part of templates x rephrasings that is asked in place of all (axes.design): where rephrasings matter less than
// templates, a few layers tell nearly what the whole product tells (stats/sequential/PartEstimate).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/ScoreTable.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::findings {

/// Sentences: what of a job's design its axes do not have. Axes without labels are not known.
std::vector<std::string> faults_of_design(const results::ScoreTableAxes& axes, const sweep::Design& design);

/// "each of 28 templates in 2 of 10 rephrasings: 56 of 280 sentences"
std::string design_text(const results::ScoreTableAxes& axes, const sweep::Design& design);

/// [template x rephrasings + rephrasing]: the layer of a sentence that is asked, else never_visited: more layers change
/// no earlier one. Templates and rephrasings are shuffled by the seed; every template is asked in `layers` rephrasings,
/// every rephrasing about as often. Throws InputError with the faults.
std::vector<std::uint8_t> visits_of_design(const results::ScoreTableAxes& axes, const sweep::Design& design,
                                           std::uint64_t seed);

}  // namespace stereosweep::findings
