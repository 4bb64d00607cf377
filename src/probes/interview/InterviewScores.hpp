// The file of an interview -> the score table, and how many answers have which status.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "probes/ProbeKind.hpp"
#include "probes/interview/InterviewProbe.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::interview {

/// The measures of the table, in this order. The last two only where options are asked.
enum class Measure : std::uint8_t { rating, rating_complete_answers, usable, refused, option_rating, option_share };

struct InterviewResult {
  results::ScoreTable table;
  std::vector<std::string> answer_statuses;   ///< that a turn can have in this file
  std::vector<std::uint64_t> answer_counts;   ///< [status of a turn, the file's "not_scored" last]
  std::vector<std::uint64_t> rating_counts;   ///< [status of a rating]; those that were not asked are left out
  std::vector<std::uint64_t> keyword_counts;  ///< [status of a list of keywords]; empty where none is asked
  std::set<std::int32_t> rules;               ///< versions of the rules by which the answers were read
};

/// A turn of a conversation, by their labels.
std::string rating_turn(const std::string& conversation, const std::string& turn);
/// By item of a result's axis: the turn that rates it; nothing where none is rated. Throws InputError where the file is
/// no interview.
std::vector<std::string> rating_turns(const results::RawSchema& schema);

/// Of the score table, by the axes and cubes of the result; `job` adds the ends of the scales.
results::ScoreTableAxes score_axes(const results::RawSchema& schema, const sweep::Job& job);

/// Items of turns that are asked with steps only, in forms without them; where the job is known. No item: nothing.
findings::LeftOut left_out(const results::RawSchema& schema, const sweep::Job& job);

/// What else is made of the contexts: called for each, in order, with its place in the block.
using ContextVisitor = std::function<void(const results::RawBlock& block, std::uint64_t place)>;

/// Reads the whole file once. `again`: reads the texts by the rules of this program, for which it needs the job. Throws
/// InputError if it is no interview, or not one of this job.
InterviewResult compute_scores(const results::ResultFile& file, const sweep::Job& job, StatsRequest::Parsing parsing,
                               const ContextVisitor& visit = {});

}  // namespace stereosweep::probes::interview
