// Requests over HTTP, several at a time, each asked again until it has an answer (libcurl).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sweep/Server.hpp"

namespace stereosweep::server {

/// What a server said.
struct Reply {
  long status = 0;  ///< of HTTP
  std::string body;
};

/// Sends to one URL and nowhere else: redirections are not followed, and proxies of the environment count only where
/// the job says so. One object belongs to one thread.
class Http {
 public:
  /// Looks at the reply to the request of this number: why it must be asked again, with the reply uncut; "": it is
  /// done.
  using Look = std::function<std::string(std::size_t number, const Reply& reply)>;
  /// `key`: sent as "Authorization: Bearer ..."; empty: none. It stands in no message of this object.
  Http(const sweep::Server& server, std::string key);
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;
  ~Http();

  /// Posts every body to `path` behind the URL ("/chat/completions"), at most `in_flight` at a time, and gives each
  /// reply of status 2xx, 400, 413 or 422 to `look`; refusals have "[key]" for the key.
  /// Asked again, each time after a longer pause or after what the server demands (Retry-After): requests without a
  /// reply, with a status that may pass (408, 425, 429, 5xx), and those that `look` wants again. `between` is called
  /// now and then, and after each round of replies. Throws Error with the exit status `resume` where a request has
  /// failed for longer than the job's patience; InputError for what no repetition can mend (401, 403, 404, ...).
  void post(const std::string& path, const std::vector<std::string>& bodies, const Look& look,
            const std::function<void()>& between);
  /// One request without a body, sent once; status 0: there was no reply.
  Reply get(const std::string& path);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stereosweep::server
