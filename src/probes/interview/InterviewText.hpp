// What commands print of an interview.
#pragma once

#include <cstddef>
#include <string>

#include "probes/ProbeKind.hpp"
#include "probes/interview/InterviewScores.hpp"

namespace stereosweep::probes::interview {

/// Mean rating by group and dimension, of the first `top` groups.
std::string ratings_text(const InterviewResult& result, std::size_t top);
/// What is said of answers that were read by other rules than this program's.
std::string rules_warning();
/// Answers, ratings and keywords by status, and the rules by which they were
/// read.
std::string statuses_text(const InterviewResult& result);
/// The conversations of the groups that the request names, at most
/// `request.top`.
std::string answers_text(const AnswersRequest& request);

}  // namespace stereosweep::probes::interview
