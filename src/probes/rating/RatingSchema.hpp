// The raw cubes of the rating probe (definitions: README.md of this room) and the places of its columns.
#pragma once

#include "probes/rating/Rating.hpp"
#include "results/RawBlock.hpp"

namespace stereosweep::probes::rating {

/// Columns in RawBlock::columns; without sampled answers the last three are not there.
enum class RatingColumn : std::uint8_t {
  option_logprob,
  option_num_tokens,
  option_status,
  prompt,
  problem,
  answer_text,
  answer_rating,
  answer_status,
};

/// Outer axes [identity, trait, question], inner axes option, order, form, run.
results::RawSchema rating_schema(const Rating& rating);

}  // namespace stereosweep::probes::rating
