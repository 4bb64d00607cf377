#include "engine/QueryInput.hpp"

#include <limits>

#include "base/text/Text.hpp"
#include "base/text/Utf8.hpp"

namespace stereosweep::engine {

void check_id(query::TokenId id, std::int64_t count) {
  if (id < 0 || id >= count) {
    base::refuse("id " + std::to_string(id) + " is outside the vocabulary",
                 "ids range from 0 to " + std::to_string(count - 1));
  }
}

void check_input(const std::vector<query::TokenId>& ids, const model::ModelShape& shape) {
  if (std::ssize(ids) > shape.max_tokens) {
    throw TooLong(base::describe("the text is too long", std::to_string(ids.size()) + " tokens, the model takes " +
                                                             std::to_string(shape.max_tokens)));
  }
  for (const auto id : ids) {
    check_id(id, shape.ids);
  }
}

int hidden_state_of(const query::Embed& asked, int num_layers) {
  const int states = num_layers + 1;
  if (asked.layer < -states || asked.layer >= states) {
    base::refuse("layer " + std::to_string(asked.layer) + " does not exist",
                 "hidden states go from " + std::to_string(-states) + " to " + std::to_string(states - 1));
  }
  return asked.layer < 0 ? asked.layer + states : asked.layer;
}

tokenizer::SpecialTokens special_tokens_of(query::Framing framing) {
  return framing == query::Framing::written ? tokenizer::SpecialTokens::leave_out : tokenizer::SpecialTokens::add;
}

tokenizer::Encoding encode_input(const std::string& text, const tokenizer::Tokenizer& tokenizer,
                                 tokenizer::SpecialTokens special, const model::ModelShape& shape) {
  auto encoding = tokenizer.encode(text, special);
  check_input(encoding.ids, shape);
  return encoding;
}

query::Answer plan_vector(const query::Embed& asked, const tokenizer::Tokenizer& tokenizer,
                          const model::ModelShape& shape, InputPlan& plan) {
  base::refuse_if(asked.source == query::VectorSource::sum_of_states, "this model gives no sum of its layers",
                  "that is what is taken of ELMo; ask for single layers");
  const bool runs = asked.source == query::VectorSource::hidden_state;
  Sequence input;
  auto own_shape = shape;
  if (runs) {
    input.layer = hidden_state_of(asked, shape.num_layers);
  } else {
    own_shape.max_tokens = std::numeric_limits<std::int64_t>::max();
  }
  auto encoding = encode_input(asked.text, tokenizer, tokenizer::SpecialTokens::add, own_shape);
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    if (overlaps(encoding.offsets[i], asked.span)) {
      input.uses.push_back({static_cast<std::int32_t>(i), Use::whole_vector, plan.query()});
    }
  }
  keep_pooled(input.uses, asked, "token");
  input.ids = std::move(encoding.ids);
  if (runs) {
    plan.sequences.push_back(std::move(input));
  } else {
    auto& rows = plan.input_rows.emplace_back(QueryTokens{{}, plan.query()});
    for (const auto& use : input.uses) {
      rows.ids.push_back(input.ids[static_cast<std::size_t>(use.position)]);
    }
  }
  return query::EmbedAnswer{};
}

query::QueryError to_query_error(const base::InputError& error) {
  const bool too_long = dynamic_cast<const TooLong*>(&error) != nullptr;
  return {error.what(), too_long ? query::QueryFault::too_long : query::QueryFault::other};
}

namespace {

void refuse_invalid(std::string_view text, const std::string& name) {
  if (const auto place = base::find_invalid_utf8(text)) {
    base::refuse("invalid UTF-8 at byte " + std::to_string(*place) + " of the " + name, "texts are UTF-8");
  }
}

}  // namespace

ContinuationBorder::ContinuationBorder(std::string_view prompt, const tokenizer::Tokenizer& tokenizer,
                                       query::Framing framing)
    : tokenizer_(tokenizer), special_(special_tokens_of(framing)), prompt_(prompt) {
  refuse_invalid(prompt, "prompt");
  ids_ = tokenizer.encode(prompt.substr(0, base::size_without_trailing_space(prompt)), special_).ids;
}

JointIds ContinuationBorder::join(std::string_view continuation) const {
  refuse_invalid(continuation, "continuation");
  JointIds joint;
  joint.ids = tokenizer_.encode(std::string(prompt_).append(continuation), special_).ids;
  const auto differ = std::mismatch(joint.ids.begin(), joint.ids.end(), ids_.begin(), ids_.end()).first;
  joint.begin = static_cast<std::size_t>(differ - joint.ids.begin());
  if (differ == joint.ids.end()) {
    base::refuse("the continuation " + base::json_quote(continuation) + " has no token",
                 "the prompt with it has the tokens of the prompt alone");
  }
  base::refuse_if(joint.begin == 0, "nothing stands before the continuation's first token",
                  "a token has a probability only after another one, and this tokenizer puts none before a text");
  return joint;
}

}  // namespace stereosweep::engine
