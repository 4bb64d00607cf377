// A model behind a URL that answers as OpenAI's interface does. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweep/Keys.hpp"

namespace stereosweep::sweep {

/// How requests are sent; changes no answer.
struct ServerRequests {
  /// Proxies of the environment (https_proxy and so on) are other machines than the one that the job names.
  enum class Proxy { none, environment };
  std::int64_t in_flight = 8;          ///< of one rank at a time
  std::int64_t timeout_s = 600;        ///< of one request
  std::int64_t patience_s = 900;       ///< how long a request is asked again after its first failure
  std::string key = "OPENAI_API_KEY";  ///< the environment variable that holds the key; without it none is sent
  Proxy proxy = Proxy::none;
  bool operator==(const ServerRequests&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.integer("in_flight", self.in_flight, 1, 1000, "requests of one rank at a time");
    keys.integer("timeout_s", self.timeout_s, 1, 86400, "seconds that one answer may take");
    keys.integer(
        "patience_s", self.patience_s, 0, 864000,
        "seconds that a request is asked again after its first failure; then the run stops and can be continued");
    keys.line("key", self.key, "environment variable that holds the key; its content is written nowhere");
    keys.choice("proxy", self.proxy, {"none", "environment"}, "environment: https_proxy and http_proxy count");
  }
};

/// What a server takes for a million tokens, in any currency.
struct ServerPrice {
  double input = 0;
  double output = 0;
  bool operator==(const ServerPrice&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.number("input", self.input, 0, 1e9, "for a million tokens of prompts");
    keys.number("output", self.output, 0, 1e9, "for a million tokens of answers");
  }
};

struct Server {
  /// chat: conversations, which the server's own chat template writes. completions: texts as they are, whose tokens'
  /// log-probabilities can be asked.
  enum class Interface { chat, completions };
  inline static const std::vector<std::string> interface_names = {"chat", "completions"};
  std::string url;   ///< "http://localhost:8000/v1", no slash at its end
  std::string name;  ///< of the model, as the server spells it
  Interface interface = Interface::chat;
  ServerRequests requests;
  ServerPrice price;
  bool operator==(const Server&) const = default;
  static void each_key(auto& self, auto& keys) {
    keys.not_raw().line("server", self.url, "URL of an OpenAI-compatible interface: http://localhost:8000/v1");
    keys.line("name", self.name, "of the model, as the server spells it");
    keys.choice("interface", self.interface, interface_names,
                "chat: the server's chat template writes the prompts; completions: texts and their probabilities");
    keys.not_raw().item("requests", self.requests, "how requests are sent");
    keys.not_raw().item("price", self.price, "for a million tokens, for 'plan'");
  }
  /// What is wrong with its values.
  std::vector<KeyFault> faults() const;
};

}  // namespace stereosweep::sweep
