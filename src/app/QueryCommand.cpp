#include "app/QueryCommand.hpp"

#include <boost/program_options/value_semantic.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/Profile.hpp"
#include "base/Text.hpp"
#include "config/Chat.hpp"
#include "engine/EngineFactory.hpp"
#include "query/Compute.hpp"
#include "query/QueryJson.hpp"
#include "sweep/ChatPrompt.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

struct QueryRequest {
  std::string model;
  engine::EngineSettings settings;
  bool profiled = false;
};

query::Dtype dtype_of(const std::string& name) {
  const auto& names = query::dtype_names;
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) {
    throw base::InputError(base::describe("unknown --dtype '" + name + "'", "there are float32, bfloat16 and float16",
                                          base::did_you_mean(name, names)));
  }
  return static_cast<query::Dtype>(place - names.begin());
}

query::Device device_of(const std::string& name) {
  if (name == "auto") {
    return query::Device::automatic;
  }
  if (name == "cpu") {
    return query::Device::cpu;
  }
  if (name == "cuda") {
    return query::Device::cuda;
  }
  throw base::InputError(base::describe("unknown --device '" + name + "'", "there are auto, cpu and cuda"));
}

options::options_description described() {
  options::options_description all("stereosweep query: JSON queries on standard input, answers on standard output");
  all.add_options()("model", options::value<std::string>(), "Hugging Face checkpoint directory");
  all.add_options()("dtype", options::value<std::string>()->default_value("float32"), "float32, bfloat16 or float16");
  all.add_options()("threads", options::value<int>()->default_value(1), "threads of the tensor operations");
  all.add_options()("device", options::value<std::string>()->default_value("auto"), "auto, cpu or cuda");
  all.add_options()("profile", "prints where the time went, at the end, on standard error");
  return all;
}

// Nothing where only help was asked for.
std::optional<QueryRequest> parse_query_arguments(const Arguments& arguments) {
  const auto line = read_command_line(arguments, "query", described(), Places::none);
  if (!line) {
    return std::nullopt;
  }
  if (!line->has("model")) {
    throw base::InputError(base::describe("--model is missing", "a query needs a checkpoint directory"));
  }
  QueryRequest request;
  request.model = line->get<std::string>("model");
  request.settings.dtype = dtype_of(line->get<std::string>("dtype"));
  request.settings.device = device_of(line->get<std::string>("device"));
  request.settings.threads = line->get<int>("threads");
  request.profiled = line->has("profile");
  return request;
}

/// Writes conversations with the template that a query names, else with the checkpoint's own.
class ChatPrompts {
 public:
  ChatPrompts(std::string model, const tokenizer::Tokenizer& tokenizer)
      : model_(std::move(model)), tokenizer_(tokenizer) {}

  std::string write(std::span<const query::Message> messages, const std::string& name) {
    auto known = templates_.find(name);
    if (known == templates_.end()) {
      const auto chat = name.empty() ? config::find_checkpoint_chat(model_, "jobs") : config::find_chat(name, "jobs");
      for (const auto& token : chat.control_tokens) {
        if (!tokenizer_.id_of(token)) {
          throw base::InputError(
              base::describe("'" + token + "' of the chat template '" + chat.label + "' is no token of this model",
                             "it would be read as letters"));
        }
      }
      known = templates_.emplace(name, chat).first;
    }
    std::vector<sweep::Message> conversation;
    for (const auto& message : messages) {
      conversation.push_back({role_of(message.role), message.content});
    }
    return sweep::write_chat(known->second, conversation);
  }

 private:
  static sweep::Role role_of(const std::string& name) {
    const std::vector<std::string> names = {"system", "user", "assistant"};
    const auto place = std::find(names.begin(), names.end(), name);
    if (place == names.end()) {
      throw base::InputError(base::describe("unknown role " + base::json_quote(name),
                                            "there are system, user and assistant", base::did_you_mean(name, names)));
    }
    return static_cast<sweep::Role>(place - names.begin());
  }

  std::string model_;
  const tokenizer::Tokenizer& tokenizer_;
  std::map<std::string, sweep::ChatTemplate> templates_;
};

query::Answer answer_line(const std::string& line, query::Engine& engine, ChatPrompts& chats) {
  try {
    const query::Query asked = query::parse_query(
        line,
        [&](std::span<const query::Message> messages, const std::string& chat) { return chats.write(messages, chat); });
    return engine.answer({&asked, 1}).at(0);
  } catch (const base::InputError& error) {
    return query::QueryError{error.what(), query::QueryFault::other};
  }
}

}  // namespace

int query_command(const Arguments& arguments) {
  const auto request = parse_query_arguments(arguments);
  if (!request) {
    return static_cast<int>(base::ExitCode::done);
  }
  if (request->profiled) {
    base::profile::enable();
  }
  const auto files = base::read_checkpoint_files(request->model, base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto engine = engine::make_engine(request->settings, files, tokenizer);
  ChatPrompts chats(request->model, tokenizer);
  auto code = base::ExitCode::done;
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = answer_line(line, *engine, chats);
    if (std::holds_alternative<query::QueryError>(answer)) {
      code = base::ExitCode::error;
    }
    std::cout << query::format_answer(answer) << '\n' << std::flush;
  }
  if (request->profiled) {
    std::cerr << base::profile::report();
  }
  return static_cast<int>(code);
}

}  // namespace stereosweep::app
