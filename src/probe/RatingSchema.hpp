// The raw cubes of the rating probe (definitions: README.md of this room) and the places of its columns.
#pragma once

#include "domain/Rating.hpp"
#include "probe/RawBlock.hpp"

namespace stereosweep::probe {

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
RawSchema rating_schema(const domain::Rating& rating);

}  // namespace stereosweep::probe
