// What commands print of an interview.
#pragma once

#include <string>

#include "probes/ProbeKind.hpp"
#include "probes/interview/InterviewScores.hpp"

namespace stereosweep::probes::interview {

/// Versions of the rules by which the answers were read: "4, 5"; "" where none was.
std::string rules_text(const InterviewResult& result);
/// Whether some were read by other rules than this program's, and what is said of that.
bool has_other_rules(const InterviewResult& result);
std::string rules_warning();
/// Answers, ratings and keywords by status, and the rules by which they were
/// read.
std::string statuses_text(const InterviewResult& result);
/// The conversations of the groups that the request names, at most
/// `request.top`.
std::string answers_text(const AnswersRequest& request);

}  // namespace stereosweep::probes::interview
