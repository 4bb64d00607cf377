#include "engine/QueryInput.hpp"

#include <algorithm>
#include <limits>

namespace stereosweep::engine {

void refuse_query(const std::string& problem, const std::string& why) {
  throw base::InputError(base::describe(problem, why));
}

void check_id(query::TokenId id, std::int64_t count) {
  if (id < 0 || id >= count) {
    refuse_query("id " + std::to_string(id) + " is outside the vocabulary",
                 "ids range from 0 to " + std::to_string(count - 1));
  }
}

void check_input(const std::vector<query::TokenId>& ids, const InputLimits& limits) {
  if (std::ssize(ids) > limits.max_tokens) {
    throw TooLong(base::describe("the text is too long", std::to_string(ids.size()) + " tokens, the model takes " +
                                                             std::to_string(limits.max_tokens)));
  }
  for (const auto id : ids) {
    check_id(id, limits.ids);
  }
}

tokenizer::SpecialTokens special_tokens_of(query::Framing framing) {
  return framing == query::Framing::written ? tokenizer::SpecialTokens::leave_out : tokenizer::SpecialTokens::add;
}

tokenizer::Encoding encode_input(const std::string& text, const tokenizer::Tokenizer& tokenizer,
                                 tokenizer::SpecialTokens special, const InputLimits& limits) {
  auto encoding = tokenizer.encode(text, special);
  check_input(encoding.ids, limits);
  return encoding;
}

namespace {

// All but the layer.
EmbedInput find_tokens(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer, const InputLimits& limits) {
  EmbedInput input;
  auto encoding = encode_input(asked.text, tokenizer, tokenizer::SpecialTokens::add, limits);
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    const auto& piece = encoding.offsets[i];
    if (std::max(piece.begin, asked.span.begin) < std::min(piece.end, asked.span.end)) {
      input.positions.push_back(static_cast<std::int32_t>(i));
    }
  }
  if (input.positions.empty()) {
    refuse_query("no token overlaps the span", "bytes " + std::to_string(asked.span.begin) + " to " +
                                                   std::to_string(asked.span.end) + " of a text of " +
                                                   std::to_string(asked.text.size()));
  }
  if (asked.pool == query::Pool::first) {
    input.positions = {input.positions.front()};
  } else if (asked.pool == query::Pool::last) {
    input.positions = {input.positions.back()};
  }
  input.ids = std::move(encoding.ids);
  return input;
}

}  // namespace

EmbedInput prepare_embed(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer, const InputLimits& limits) {
  if (asked.source == query::VectorSource::sum_of_states) {
    refuse_query("this model gives no sum of its layers", "that is what is taken of ELMo; ask for single layers");
  }
  const int states = limits.num_layers + 1;
  if (asked.layer < -states || asked.layer >= states) {
    refuse_query("layer " + std::to_string(asked.layer) + " does not exist",
                 "hidden states go from " + std::to_string(-states) + " to " + std::to_string(states - 1));
  }
  auto input = find_tokens(asked, tokenizer, limits);
  input.layer = asked.layer < 0 ? asked.layer + states : asked.layer;
  return input;
}

InputRows prepare_input_rows(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer,
                             const InputLimits& limits) {
  auto any_length = limits;
  any_length.max_tokens = std::numeric_limits<std::int64_t>::max();
  const auto input = find_tokens(asked, tokenizer, any_length);
  InputRows rows;
  for (const auto position : input.positions) {
    rows.ids.push_back(input.ids[static_cast<std::size_t>(position)]);
  }
  return rows;
}

query::QueryError to_query_error(const base::InputError& error) {
  const bool too_long = dynamic_cast<const TooLong*>(&error) != nullptr;
  return {error.what(), too_long ? query::QueryFault::too_long : query::QueryFault::other};
}

}  // namespace stereosweep::engine
