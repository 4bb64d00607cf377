#include "app/QueryCommand.hpp"

#include <boost/program_options/value_semantic.hpp>

#include <iostream>
#include <optional>
#include <string>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "engine/EngineFactory.hpp"
#include "query/QueryJson.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

struct Request {
  std::string model;
  engine::EngineSettings settings;
};

domain::Dtype dtype_of(const std::string& name) {
  if (name == "float32") {
    return domain::Dtype::float32;
  }
  if (name == "bfloat16") {
    return domain::Dtype::bfloat16;
  }
  throw base::InputError(base::describe("unknown --dtype '" + name + "'", "there are float32 and bfloat16"));
}

domain::Device device_of(const std::string& name) {
  if (name == "auto") {
    return domain::Device::automatic;
  }
  if (name == "cpu") {
    return domain::Device::cpu;
  }
  if (name == "cuda") {
    return domain::Device::cuda;
  }
  throw base::InputError(base::describe("unknown --device '" + name + "'", "there are auto, cpu and cuda"));
}

options::options_description described() {
  options::options_description all("stereosweep query: JSON queries on standard input, answers on standard output");
  all.add_options()("model", options::value<std::string>(), "Hugging Face checkpoint directory");
  all.add_options()("dtype", options::value<std::string>()->default_value("float32"), "float32 or bfloat16");
  all.add_options()("threads", options::value<int>()->default_value(1), "threads of the tensor operations");
  all.add_options()("device", options::value<std::string>()->default_value("auto"), "auto, cpu or cuda");
  return all;
}

// Nothing where only help was asked for.
std::optional<Request> parse_arguments(const Arguments& arguments) {
  const auto line = read_command_line(arguments, "query", described(), Places::none);
  if (!line) {
    return std::nullopt;
  }
  if (!line->has("model")) {
    throw base::InputError(base::describe("--model is missing", "a query needs a checkpoint directory"));
  }
  Request request;
  request.model = line->get<std::string>("model");
  request.settings.dtype = dtype_of(line->get<std::string>("dtype"));
  request.settings.device = device_of(line->get<std::string>("device"));
  request.settings.threads = line->get<int>("threads");
  return request;
}

query::Answer answer_line(const std::string& line, query::Engine& engine) {
  try {
    const query::Query asked = query::parse_query(line);
    return engine.answer({&asked, 1}).at(0);
  } catch (const base::InputError& error) {
    return query::QueryError{error.what(), query::QueryFault::other};
  }
}

}  // namespace

int query_command(const Arguments& arguments) {
  const auto request = parse_arguments(arguments);
  if (!request) {
    return static_cast<int>(base::ExitCode::done);
  }
  const auto files = base::read_checkpoint_files(request->model, base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto engine = engine::make_engine(request->settings, files, tokenizer);
  auto code = base::ExitCode::done;
  for (std::string line; std::getline(std::cin, line);) {
    const auto answer = answer_line(line, *engine);
    if (std::holds_alternative<query::QueryError>(answer)) {
      code = base::ExitCode::error;
    }
    std::cout << query::format_answer(answer) << '\n' << std::flush;
  }
  return static_cast<int>(code);
}

}  // namespace stereosweep::app
