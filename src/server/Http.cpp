#include "server/Http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Random.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// An answer of a chat model has some kilobytes; a server that sends without an end is cut off.
constexpr std::size_t max_reply_bytes = std::size_t{64} << 20;
constexpr long connect_timeout_s = 30;
constexpr double first_pause_s = 0.5;
constexpr double longest_pause_s = 30;

void require(CURLcode code) { base::fail_if(code != CURLE_OK, "libcurl cannot be used", curl_easy_strerror(code)); }

bool may_pass(long status) { return status == 408 || status == 425 || status == 429 || status >= 500; }
bool is_looked_at(long status) {
  return (status >= 200 && status < 300) || status == 400 || status == 413 || status == 422;
}

/// One request on its way to its answer.
struct Request {
  std::size_t number = 0;
  int failures = 0;
  Clock::time_point first_failure{};
  Clock::time_point not_before{};
};

struct Transfer {
  Request request;
  std::string body;
  bool is_too_long = false;
};

std::size_t take_bytes(char* bytes, std::size_t size, std::size_t count, void* target) {
  auto& transfer = *static_cast<Transfer*>(target);
  transfer.is_too_long = transfer.body.size() + size * count > max_reply_bytes;
  if (transfer.is_too_long) {
    return 0;
  }
  transfer.body.append(bytes, size * count);
  return size * count;
}

}  // namespace

struct Http::State {
  sweep::Server server;
  std::string key;
  CURLM* multi = nullptr;
  curl_slist* headers = nullptr;
  std::vector<CURL*> idle;  ///< handles, which keep their connections
  std::map<CURL*, Transfer> running;
  std::deque<Request> waiting;
  std::size_t width = 1;  ///< requests at a time, fewer after a server has said that there are too many
  bool has_warned = false;

  /// A server may repeat the request, its key included.
  std::string without_key(const std::string& text) const {
    return key.empty() ? text : base::replace_all(text, key, "[key]");
  }

  CURL* new_handle() {
    CURL* handle = curl_easy_init();
    require(handle == nullptr ? CURLE_FAILED_INIT : CURLE_OK);
    const bool uses_proxy = server.requests.proxy == sweep::ServerRequests::Proxy::environment;
    require(curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers));
    require(curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https"));
    require(curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L));
    require(curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L));
    require(curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, connect_timeout_s));
    require(curl_easy_setopt(handle, CURLOPT_TIMEOUT, static_cast<long>(server.requests.timeout_s)));
    require(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_bytes));
    require(curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, ""));
    if (!uses_proxy) {
      require(curl_easy_setopt(handle, CURLOPT_PROXY, ""));
    }
    return handle;
  }

  void start(Request request, const std::string& path, const std::string* body) {
    CURL* handle = idle.empty() ? new_handle() : idle.back();
    if (!idle.empty()) {
      idle.pop_back();
    }
    auto& transfer = running[handle];
    transfer = {std::move(request), {}, false};
    require(curl_easy_setopt(handle, CURLOPT_URL, (server.url + path).c_str()));
    require(curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer));
    if (body == nullptr) {
      require(curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L));
    } else {
      require(curl_easy_setopt(handle, CURLOPT_POST, 1L));
      require(curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body->c_str()));  // borrowed until it is done
      require(curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body->size())));
    }
    curl_multi_add_handle(multi, handle);
  }

  void start_waiting(const std::string& path, const std::vector<std::string>& bodies) {
    const auto now = Clock::now();
    for (auto at = waiting.begin(); at != waiting.end() && running.size() < width;) {
      if (at->not_before > now) {
        ++at;
        continue;
      }
      auto request = std::move(*at);
      at = waiting.erase(at);
      const auto* body = bodies.empty() ? nullptr : &bodies[request.number];
      start(std::move(request), path, body);
    }
  }

  /// Until the next request may start or a transfer moves.
  int pause_ms() const {
    constexpr std::int64_t longest = 1000;
    auto pause = longest;
    const auto now = Clock::now();
    for (const auto& request : waiting) {
      if (running.size() < width) {
        pause = std::min(pause, std::chrono::duration_cast<milliseconds>(request.not_before - now).count() + 1);
      }
    }
    return static_cast<int>(std::max<std::int64_t>(pause, 1));
  }

  /// `reply`: why, with all that the server said. Throws where the patience is over.
  void ask_again(Request request, const std::string& reply, double demanded_s) {
    const auto why = base::excerpt(base::printable(without_key(reply)), 250);
    const auto now = Clock::now();
    request.first_failure = request.failures++ == 0 ? now : request.first_failure;
    const auto failing = std::chrono::duration<double>(now - request.first_failure).count();
    if (failing >= static_cast<double>(server.requests.patience_s)) {
      throw base::Error(
          base::describe("the server " + server.url + " gives no answer since " +
                             std::to_string(static_cast<std::int64_t>(failing)) + " s, asked " +
                             base::counted(static_cast<std::uint64_t>(request.failures), "time"),
                         "the last time: " + why,
                         "What was answered is kept: run the same command again once the server is back, or raise "
                         "model.requests.patience_s."),
          base::ExitCode::resume);
    }
    if (!std::exchange(has_warned, true)) {
      base::log(base::LogLevel::warning,
                base::describe("a request to " + server.url + " is sent again", why, "Further ones are not told of."));
    }
    // Ranks and requests that failed together do not come back together.
    const auto spread = 0.5 + 0.5 * base::random_unit(request.number, static_cast<std::uint64_t>(request.failures),
                                                      static_cast<std::uint64_t>(now.time_since_epoch().count()));
    const auto usual = std::min(longest_pause_s, first_pause_s * std::exp2(std::min(request.failures - 1, 10)));
    const auto pause = std::max(usual * spread, std::min(demanded_s, static_cast<double>(server.requests.patience_s)));
    request.not_before = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(pause));
    waiting.push_back(std::move(request));
  }

  [[noreturn]] void refuse(long status, const std::string& body) const {
    const auto said = base::excerpt(base::printable(body), 300);
    const bool is_about_key = status == 401 || status == 403;
    base::refuse("the server " + server.url + " refuses the request with status " + std::to_string(status),
                 said.empty() ? "it says no more" : said,
                 is_about_key ? "The key is read from the environment variable " + server.requests.key +
                                    (key.empty() ? ", which is not set." : ".")
                              : "Look at model.server, model.name and model.interface.");
  }

  /// The transfer that has ended; its handle is free again.
  struct Ended {
    Transfer transfer;
    std::string failure;  ///< of the connection; empty: there is a reply
    long status = 0;
    double retry_after_s = 0;
  };
  std::optional<Ended> next_ended() {
    int left = 0;
    const CURLMsg* message = curl_multi_info_read(multi, &left);
    if (message == nullptr) {
      return std::nullopt;
    }
    CURL* handle = message->easy_handle;
    const auto code = message->data.result;
    Ended ended{std::move(running.at(handle)), "", 0, 0};
    running.erase(handle);
    curl_off_t retry_after = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &ended.status);
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &retry_after);
    ended.retry_after_s = static_cast<double>(retry_after);
    if (ended.transfer.is_too_long) {
      ended.failure = "its answer has more than " + std::to_string(max_reply_bytes >> 20U) + " MiB";
    } else if (code != CURLE_OK) {
      ended.failure = curl_easy_strerror(code);
    }
    curl_multi_remove_handle(multi, handle);
    idle.push_back(handle);
    return ended;
  }

  /// What is on its way borrows from a caller that goes.
  void forget_all() {
    waiting.clear();
    for (const auto& [handle, transfer] : running) {
      curl_multi_remove_handle(multi, handle);
      idle.push_back(handle);
    }
    running.clear();
  }

  /// Sends what waits until all of it is done.
  void run(const std::string& path, const std::vector<std::string>& bodies, const Look& look,
           const std::function<void()>& between) {
    try {
      while (!waiting.empty() || !running.empty()) {
        start_waiting(path, bodies);
        int active = 0;
        curl_multi_perform(multi, &active);
        while (auto ended = next_ended()) {
          settle(std::move(*ended), look);
        }
        between();
        if (!waiting.empty() || !running.empty()) {
          curl_multi_poll(multi, nullptr, 0, pause_ms(), nullptr);
        }
      }
    } catch (...) {
      between();  // what was answered before is kept
      forget_all();
      throw;
    }
  }

  void settle(Ended ended, const Look& look) {
    auto& request = ended.transfer.request;
    auto& body = ended.transfer.body;
    if (ended.status >= 300) {  // a text of an answer may hold the letters of a key like "none"
      body = without_key(body);
    }
    if (!ended.failure.empty()) {
      ask_again(std::move(request), ended.failure, ended.retry_after_s);
    } else if (may_pass(ended.status)) {
      width = ended.status == 429 ? std::max<std::size_t>(1, width / 2) : width;
      ask_again(std::move(request), "status " + std::to_string(ended.status) + ": " + body, ended.retry_after_s);
    } else if (!is_looked_at(ended.status)) {
      refuse(ended.status, body);
    } else if (const auto verdict = look(request.number, {ended.status, std::move(body)}); !verdict.empty()) {
      ask_again(std::move(request), verdict, 0);
    } else {
      width = std::min(width + 1, static_cast<std::size_t>(server.requests.in_flight));
    }
  }
};

Http::Http(const sweep::Server& server, std::string key) : state_(std::make_unique<State>()) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);  // before any thread sends
  require(started);
  state_->server = server;
  state_->key = std::move(key);
  state_->width = static_cast<std::size_t>(server.requests.in_flight);
  state_->multi = curl_multi_init();
  require(state_->multi == nullptr ? CURLE_FAILED_INIT : CURLE_OK);
  state_->headers = curl_slist_append(state_->headers, "Content-Type: application/json");
  if (!state_->key.empty()) {
    state_->headers = curl_slist_append(state_->headers, ("Authorization: Bearer " + state_->key).c_str());
  }
}

Http::~Http() {
  state_->forget_all();
  for (CURL* handle : state_->idle) {
    curl_easy_cleanup(handle);
  }
  curl_multi_cleanup(state_->multi);
  curl_slist_free_all(state_->headers);
}

void Http::post(const std::string& path, const std::vector<std::string>& bodies, const Look& look,
                const std::function<void()>& between) {
  for (std::size_t number = 0; number < bodies.size(); ++number) {
    state_->waiting.push_back({.number = number});
  }
  state_->run(path, bodies, look, between);
}

Reply Http::get(const std::string& path) {
  state_->start({}, path, nullptr);
  auto ended = state_->next_ended();
  for (int active = 0; !ended; ended = state_->next_ended()) {
    curl_multi_poll(state_->multi, nullptr, 0, 1000, nullptr);
    curl_multi_perform(state_->multi, &active);
  }
  return ended->failure.empty() ? Reply{ended->status, std::move(ended->transfer.body)} : Reply();
}

}  // namespace stereosweep::server
