// The texts of an interview: what the user's side says at each turn, and a
// conversation so far as one prompt.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "probes/interview/Interview.hpp"
#include "query/Query.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::interview {

/// One cell of the product, as indices into the settings.
struct Cell {
  std::size_t subject = 0;
  std::size_t conversation = 0;
  std::size_t form = 0;
  std::size_t rephrasing = 0;
};

/// Turns of a conversation that a form asks, as indices, in order.
std::vector<std::size_t> asked_turns(const Conversation& conversation, const PromptForm& form);

/// What the user's side says at these turns (README.md, «What is said»).
std::vector<std::string> messages_of(const Interview& settings, const sweep::Subject& subject, const Cell& cell);

/// A conversation as the model's prompt: `asked` has one message more than
/// there are `answers`. With the job's chat template, or as plain text
/// (README.md).
std::string prompt_of(const sweep::Job& job, std::span<const std::string> asked, std::span<const std::string> answers);

/// Asks how likely each answer of the scale to one item of a rating turn is,
/// after the turn's own prompt: as the whole answer, or of several items as
/// though the answer began with "ITEM:".
query::Query ask_options(const sweep::Job& job, const std::string& prompt, const Turn& turn, std::size_t item,
                         const RatingScale& scale);

}  // namespace stereosweep::probes::interview
