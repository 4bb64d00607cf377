#include "server/ServerEngine.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/Sha256.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"
#include "server/Http.hpp"
#include "server/Interface.hpp"

namespace stereosweep::server {
namespace {

using base::Json;

std::string key_of(const sweep::Server& server) { return base::text_from_environment(server.requests.key.c_str()); }

/// What every answer depends on: all of the request but the machine that it goes to.
base::Digest hash_of(const std::string& path, const std::string& body) {
  return base::Sha256().field(path).field(body).finish();
}

/// Nat; a server of 16 bits computes a prompt and a new token by different kernels.
constexpr double trial_tolerance = 0.1;

/// Asked again where `read` finds that the reply is not whole; InputErrors go on.
std::string verdict_of(const auto& read) {
  try {
    read();
  } catch (const base::InputError&) {
    throw;
  } catch (const base::Error& error) {
    return error.what();
  }
  return "";
}

/// Refuses a server whose probabilities of a prompt are not those of the texts that it writes itself.
void prove_probabilities(const sweep::Server& server, Http& http) {
  const auto path = path_of(server.interface);
  const auto ask = [&](const std::string& body, const auto& read) {
    http.post(
        path, {body}, [&](std::size_t, const Reply& reply) { return verdict_of([&] { read(reply); }); }, [] {});
  };
  for (const std::string prompt : {"The weather today is", "Once upon a time there was"}) {
    TrialToken token;
    ask(trial_body(prompt, server), [&](const Reply& reply) { token = read_trial(reply); });
    const query::Query again = query::Continue{prompt, {token.text}};
    if (base::trim(token.text).empty()) {
      continue;  // it ends at once, or begins with a blank that belongs to the next word
    }
    query::Answer answer;
    ask(bodies_of(again, server).front(),
        [&](const Reply& reply) { answer = answer_of(again, std::vector<Json>{read_reply(again, reply)}); });
    const auto* given = std::get_if<query::ContinueAnswer>(&answer);
    if (given == nullptr || given->logprob.front().size() != 1) {
      continue;  // cut into other tokens
    }
    const auto as_prompt = given->logprob.front().front();
    base::refuse_if(
        !(std::abs(as_prompt - token.logprob) <= trial_tolerance),
        "the server " + server.url + " gives wrong log-probabilities of a prompt",
        "behind '" + prompt + "' it writes " + base::json_quote(token.text) + " with " +
            base::format_double(token.logprob) + " nat, and as a prompt the same token has " +
            base::format_double(as_prompt),
        "The server of llama-cpp-python (seen in 0.3.36) takes each token's by the token behind it. Take another one, "
        "or the checkpoint itself: model.path.");
  }
}

class ServerCall final : public query::Call {
 public:
  /// `proof`: of the server's probabilities, given when they are first asked.
  ServerCall(const sweep::Server& server, Http& http, const std::shared_future<void>& proof, AnswerStore& store,
             std::span<const query::Query> queries)
      : server_(server), http_(http), proof_(proof), store_(store), queries_(queries) {
    for (std::size_t query = 0; query < queries.size(); ++query) {
      auto& part = parts_.emplace_back();
      try {
        for (auto& body : bodies_of(queries[query], server)) {
          const auto hash = part.hashes.emplace_back(hash_of(path_of(server.interface), body));
          if (kept_.try_emplace(hash).second) {
            requests_.push_back({hash, query, std::move(body)});
          }
        }
      } catch (const base::InputError& error) {
        part.fault = error.what();
      }
    }
  }

  void run() override {
    std::erase_if(requests_, [&](const Request& request) {
      const auto answer = store_.find(request.hash);
      kept_[request.hash] = answer ? base::parse_json(*answer, "a kept answer") : Json();
      return answer.has_value();
    });
    if (std::ranges::any_of(requests_, [&](const Request& request) {
          return std::holds_alternative<query::Continue>(queries_[request.query]);
        })) {
      proof_.get();
    }
    http_.post(
        path_of(server_.interface), base::mapped(requests_, &Request::body),
        [this](std::size_t number, const Reply& reply) { return take(number, reply); }, [this] { store_.commit(); });
  }

  std::vector<query::Answer> read() override {
    std::vector<query::Answer> answers;
    for (std::size_t query = 0; query < queries_.size(); ++query) {
      const auto& part = parts_[query];
      const auto kept = base::mapped(part.hashes, [&](const auto& hash) { return kept_.at(hash); });
      answers.push_back(part.fault.empty() ? answer_of(queries_[query], kept)
                                           : query::Answer(query::QueryError{part.fault}));
    }
    return answers;
  }

  /// The same whoever was asked when: kept answers count as those of this call.
  query::EngineCounts cost() const override {
    query::EngineCounts cost;
    cost.queries = queries_.size();
    for (const auto& [hash, answer] : kept_) {
      ++cost.distinct_sequences;
      cost.distinct_tokens +=
          answer.value("prompt_tokens", std::uint64_t{0}) + answer.value("new_tokens", std::uint64_t{0});
      cost.head_rows += answer.value("new_tokens", std::uint64_t{0});
    }
    return cost;
  }

 private:
  struct Part {
    std::vector<base::Digest> hashes;  ///< of its requests
    std::string fault;
  };
  struct Request {
    base::Digest hash;
    std::size_t query = 0;  ///< the first that needs it
    std::string body;
  };

  std::string take(std::size_t number, const Reply& reply) {
    return verdict_of([&] {
      const auto& request = requests_[number];
      auto answer = read_reply(queries_[request.query], reply);
      store_.keep(request.hash, answer.dump());
      kept_[request.hash] = std::move(answer);
    });
  }

  const sweep::Server& server_;
  Http& http_;
  const std::shared_future<void>& proof_;
  AnswerStore& store_;
  std::span<const query::Query> queries_;
  std::vector<Part> parts_;  ///< of each query
  std::map<base::Digest, Json> kept_;
  std::vector<Request> requests_;  ///< once it runs those that no answer is kept of
};

class ServerEngine final : public query::Engine {
 public:
  ServerEngine(const sweep::Server& server, std::unique_ptr<AnswerStore> store)
      : server_(server), http_(server, key_of(server)), store_(std::move(store)) {}

  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override {
    return std::make_unique<ServerCall>(server_, http_, proof_, *store_, queries);
  }
  std::optional<std::string> lacks(query::Prediction asked) const override {
    return asked == query::Prediction::masked
               ? std::optional<std::string>("a server completes texts and fills no masks")
               : std::nullopt;
  }

 private:
  sweep::Server server_;
  mutable Http http_;  ///< it, the proof and the store: of the thread that runs calls
  /// The server is asked once: what came of it holds for later calls, too.
  std::shared_future<void> proof_ = std::async(std::launch::deferred, [this] { prove_probabilities(server_, http_); });
  std::unique_ptr<AnswerStore> store_;
};

}  // namespace

std::string missing_name(const sweep::Server& server) {
  const auto reply = Http(server, key_of(server)).get("/models");
  std::vector<std::string> names;
  try {
    const auto list = reply.status / 100 == 2 ? base::parse_json(reply.body, "models") : Json();
    const bool is_list = list.is_object() && list.contains("data") && list.at("data").is_array();
    for (const auto& model : is_list ? list.at("data") : Json::array()) {
      if (model.is_object() && model.contains("id") && model.at("id").is_string()) {
        names.push_back(model.at("id").get<std::string>());
      }
    }
  } catch (const base::InputError&) {  // no list: the first request will tell
  }
  if (names.empty() || base::contains(names, server.name)) {
    return "";
  }
  return base::describe("the server " + server.url + " does not list the model '" + server.name + "'",
                        "it lists " + base::excerpt(base::printable(base::join(names, ", ")), 300),
                        "The server may load it all the same; if not: model.name takes one of these.");
}

std::unique_ptr<query::Engine> make_server_engine(const sweep::Server& server, std::unique_ptr<AnswerStore> store) {
  return std::make_unique<ServerEngine>(server, std::move(store));
}

}  // namespace stereosweep::server
