#include "chat/TemplateChild.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/Sha256.hpp"
#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::chat {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto time_limit = std::chrono::seconds(20);  ///< of one request, however busy the machine is
constexpr std::size_t max_answer_bytes = std::size_t{64} << 20;
constexpr std::size_t conversations_per_request = 1000;
constexpr const char* advice =
    "Name a template (model.chat: NAME of configs/chat), write its pieces into the job, or say none for a base model.";

/// The child with one line to it and what it says until it ends; ended by force when this object goes.
class Child {
 public:
  Child() {
    std::array<int, 2> ends{};
    base::refuse_if(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0,
                    "the chat template cannot be run", std::strerror(errno), advice);
    socket_ = ends[0];
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int place : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      ::posix_spawn_file_actions_adddup2(&actions, ends[1], place);
    }
    // Nothing of the user's environment but where programs and their libraries lie.
    std::vector<std::string> environment;
    for (const char* name : {"PATH", "LD_LIBRARY_PATH"}) {
      environment.push_back(std::string(name) + "=" + base::text_from_environment(name));
    }
    const auto own = base::own_python();
    std::vector<std::string> words = {own.empty() ? "python3" : own, "-I", "-c", std::string(template_script())};
    const auto pointers = [](std::vector<std::string>& texts) {
      std::vector<char*> list;
      for (auto& text : texts) {
        list.push_back(text.data());
      }
      list.push_back(nullptr);
      return list;
    };
    const int failure = ::posix_spawnp(&process_, words[0].c_str(), &actions, nullptr, pointers(words).data(),
                                       pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (failure != 0) {
      ::close(socket_);
      base::refuse("the chat template cannot be run",
                   "it needs a Python with Jinja2, and '" + words[0] + "' cannot be started: " + std::strerror(failure),
                   advice);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::close(socket_);
  }

  /// Everything that it answers to a line; "" where it took too long.
  std::string ask(const std::string& line) {
    const auto latest = Clock::now() + time_limit;
    std::string answer;
    std::size_t sent = 0;
    std::array<char, 65536> buffer{};
    while (answer.size() < max_answer_bytes) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(latest - Clock::now());
      pollfd news{socket_, static_cast<short>(POLLIN | (sent < line.size() ? POLLOUT : 0)), 0};
      if (left.count() <= 0 || ::poll(&news, 1, static_cast<int>(left.count())) <= 0) {
        return "";
      }
      if ((news.revents & POLLOUT) != 0) {
        const auto written = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        sent += written > 0 ? static_cast<std::size_t>(written) : 0;
        if (sent == line.size()) {
          ::shutdown(socket_, SHUT_WR);
        }
      }
      if ((news.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
        const auto read = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (read == 0 || (read < 0 && errno != EAGAIN)) {
          break;
        }
        answer.append(buffer.data(), read > 0 ? static_cast<std::size_t>(read) : 0);
      }
    }
    return answer;
  }

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

[[noreturn]] void refuse(const TemplateSource& source, const std::string& why) {
  base::refuse("the chat template of " + source.file + " cannot be used", why, advice);
}

/// The last line that the child says is its answer; what Python itself has to say stands before it.
base::Json ask_child(const TemplateSource& source, const base::Json& request) {
  Child child;
  const auto said = child.ask(request.dump() + "\n");
  const auto end = said.find_last_not_of('\n');
  const auto start = end == std::string::npos ? 0 : said.rfind('\n', end) + 1;
  const auto line = end == std::string::npos ? "" : said.substr(start, end + 1 - start);
  if (line.starts_with("{")) {
    auto answer = base::parse_json(line, "the answer of the template's process");
    if (answer.contains("refused")) {
      refuse(source, answer.at("refused").get<std::string>());
    }
    return answer;
  }
  if (line.find("jinja2") != std::string::npos) {
    refuse(source, "the Python that runs it has no Jinja2: " + base::printable(base::excerpt(line, 200)));
  }
  const bool was_ended = line.empty();
  refuse(source, was_ended ? "it took more time or memory than a template may (3 s of a processor, 10 s in all, 1.5 GB)"
                           : "the process that runs it failed: " + base::printable(base::excerpt(line, 200)));
}

base::Json request_of(const TemplateSource& source, const TemplateSettings& settings, const std::string& what) {
  return {{"do", what},
          {"text", source.text},
          {"tokens", source.tokens},
          {"added", source.added_tokens},
          {"date", settings.date},
          {"switches", settings.switches},
          {"thinking", settings.thinking},
          {"confined", true}};
}

std::filesystem::path cache_folder() {
  auto root = base::text_from_environment("XDG_CACHE_HOME");
  if (const auto home = base::text_from_environment("HOME"); root.empty() && !home.empty()) {
    root = home + "/.cache";
  }
  return root.empty() ? std::filesystem::path() : std::filesystem::path(root) / "stereosweep" / "chat";
}

/// "" where there is none, or a damaged one: its first line is the hash of the rest.
std::string read_entry(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) {
    return "";
  }
  try {
    const auto content = base::read_file(path, std::size_t{4} << 20);
    const auto end = content.find('\n');
    const auto pieces = end == std::string::npos ? "" : content.substr(end + 1);
    return content.substr(0, end) == base::to_hex(base::sha256(pieces)) ? pieces : "";
  } catch (const base::Error&) {
    return "";
  }
}

/// A cache that cannot be written costs the next start half a second.
void write_entry(const std::filesystem::path& path, const std::string& pieces) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  try {
    base::write_file_atomically(path, base::to_hex(base::sha256(pieces)) + "\n" + pieces);
  } catch (const base::Error&) {
    return;
  }
}

}  // namespace

std::string infer_pieces(const TemplateSource& source, const TemplateSettings& settings) {
  auto request = request_of(source, settings, "infer");
  request["longest"] = proven_messages;
  base::Sha256 hash;
  hash.field(template_script()).field(request.dump());
  const auto folder = cache_folder();
  const auto entry = folder.empty() ? folder : folder / (base::to_hex(hash.finish()) + ".json");
  if (auto known = read_entry(entry); !known.empty()) {
    return known;
  }
  auto pieces = ask_child(source, request).at("pieces");
  const auto sha256 = base::to_hex(base::sha256(source.text));
  pieces["label"] =
      source.file + (source.name.empty() ? "" : " '" + source.name + "'") + ", SHA-256 " + sha256.substr(0, 12);
  pieces["origin"]["file"] = source.file;
  if (!source.name.empty()) {
    pieces["origin"]["name"] = source.name;
  }
  pieces["origin"]["sha256"] = sha256;
  auto text = pieces.dump();
  if (!entry.empty()) {
    write_entry(entry, text);
  }
  return text;
}

std::vector<Rendered> render_with_template(const TemplateSource& source, const TemplateSettings& settings,
                                           std::span<const std::vector<Message>> conversations) {
  constexpr std::array role_names = {"system", "user", "assistant"};
  std::vector<Rendered> rendered;
  for (std::size_t first = 0; first < conversations.size(); first += conversations_per_request) {
    auto request = request_of(source, settings, "render");
    auto& list = request["conversations"] = base::Json::array();
    for (const auto& conversation :
         conversations.subspan(first).first(std::min(conversations_per_request, conversations.size() - first))) {
      auto& messages = list.emplace_back(base::Json::array());
      for (const auto& message : conversation) {
        messages.push_back(
            {{"role", role_names.at(static_cast<std::size_t>(message.role))}, {"content", message.content}});
      }
    }
    const auto answer = ask_child(source, request);
    for (const auto& text : answer.at("texts")) {
      rendered.push_back(text.is_string() ? Rendered(text.get<std::string>())
                                          : Rendered(Refusal{text.at("refused").get<std::string>()}));
    }
  }
  base::refuse_if(rendered.size() != conversations.size(), "the template's process did not answer all", source.file);
  return rendered;
}

TemplateSettings settings_of(const TemplateOrigin& origin) {
  return {origin.date.empty() ? base::utc_now().substr(0, 10) : origin.date,
          base::parse_json(origin.switches.empty() ? "{}" : origin.switches, "switches of the chat template")};
}

}  // namespace stereosweep::chat
