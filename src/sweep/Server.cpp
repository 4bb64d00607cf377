#include "sweep/Server.hpp"

namespace stereosweep::sweep {

std::vector<KeyFault> Server::faults() const {
  std::vector<KeyFault> faults;
  const auto scheme = url.find("://");
  const auto after = scheme == std::string::npos ? url : url.substr(scheme + 3);
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    faults.push_back({"server", "'" + url + "' is no URL of a server", "it does not begin with http:// or https://",
                      "Write for example http://localhost:8000/v1."});
  } else if (after.substr(0, after.find('/')).find('@') != std::string::npos) {
    faults.push_back({"server", "a URL with a name or a password", "the URL is written into files",
                      "Put the key into an environment variable, and name that as model.requests.key."});
  } else if (after.empty() || after.find_first_of("?# \t") != std::string::npos) {
    faults.push_back({"server", "'" + url + "' is no URL of an interface", "paths such as /chat/completions follow it",
                      "Leave '?', '#' and blanks out."});
  }
  if (name.empty()) {
    faults.push_back({"name", "a server without the name of a model", "every request names its model",
                      "Write model.name: NAME, as the server spells it."});
  }
  if (requests.key.empty() || requests.key.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                                             "0123456789_") != std::string::npos) {
    faults.push_back({"requests", "requests.key is no name of an environment variable",
                      "it names the variable that holds the key, and is not the key itself",
                      "Write for example key: OPENAI_API_KEY."});
  }
  return faults;
}

}  // namespace stereosweep::sweep
