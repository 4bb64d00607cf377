// What a query is to a server with OpenAI's interface: the bodies of its requests, and what their replies say.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/text/Json.hpp"
#include "query/Query.hpp"
#include "server/Http.hpp"
#include "sweep/Server.hpp"

namespace stereosweep::server {

/// Behind the server's URL.
std::string path_of(sweep::Server::Interface interface);

/// One for a text to generate, one for each continuation. Throws InputError for what the interface cannot be asked.
std::vector<std::string> bodies_of(const query::Query& asked, const sweep::Server& server);

/// What is kept of a reply: a JSON object with "text" and "finish", or "logprobs" and "tokens", or "error"; and what
/// the server says of itself and of the tokens. Throws base::Error where the reply must be asked for again: it was cut
/// off, or lacks what every answer has; the message then ends with the whole reply. InputError: the server does not
/// give what the query needs.
base::Json read_reply(const query::Query& asked, const Reply& reply);

/// `kept`: one for each body, in their order.
query::Answer answer_of(const query::Query& asked, std::span<const base::Json> kept);

// A server that computes the probabilities of a prompt wrongly (by the token behind it, say) gives numbers of the right
// form. It is asked for a text of one token, whose probability it tells, and then for the probability of that text.

/// Of the text of one token behind a prompt.
std::string trial_body(const std::string& prompt, const sweep::Server& server);
struct TrialToken {
  std::string text;  ///< empty: the server ended at once
  double logprob = 0;
};
/// Throws as `read_reply`, and InputError where the server refuses the request.
TrialToken read_trial(const Reply& reply);

}  // namespace stereosweep::server
