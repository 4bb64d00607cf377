// How well scores agree with people, as text.
#pragma once

#include <string>

#include "findings/Alignment.hpp"

namespace stereosweep::findings {

/// Agreement with human ratings: overall; of the first `top` groups and templates with the first prior; names that did
/// not match. "" without ratings.
std::string agreement_text(const PairAgreement& result, std::size_t top);

}  // namespace stereosweep::findings
