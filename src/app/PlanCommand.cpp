#include "app/PlanCommand.hpp"

#include <boost/program_options/value_semantic.hpp>

#include <iostream>
#include <limits>
#include <string>

#include "app/CommandLine.hpp"
#include "app/PlanReport.hpp"
#include "base/Error.hpp"
#include "base/File.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

/// Contexts that are read one by one; a larger product is sampled, so that 10^9 cells answer within seconds.
constexpr std::uint64_t max_contexts_read = 20'000;

struct Request {
  std::string file;
  std::vector<std::string> overrides;
  bool shows_prompts = false;
  int ranks = 1;
  std::optional<std::uint64_t> limit;
};

// Nothing where only help was asked for.
std::optional<Request> parse_arguments(const Arguments& arguments) {
  options::options_description visible("stereosweep plan JOB [key=value ...]: what a job will cost; reads no weights");
  visible.add_options()("show-prompts", "also print the text of every cell");
  visible.add_options()("ranks", options::value<int>()->default_value(1), "ranks that the run will have");
  visible.add_options()("limit", options::value<std::int64_t>(), "lines per list and cells of --show-prompts");
  const auto line = read_command_line(arguments, "plan", visible, Places::one_and_overrides, "job");
  if (!line) {
    return std::nullopt;
  }
  Request request;
  request.file = line->place;
  request.overrides = line->overrides;
  request.shows_prompts = line->has("show-prompts");
  request.ranks = line->get<int>("ranks");
  if (request.ranks < 1) {
    throw base::InputError(base::describe("--ranks must be at least 1", "it is " + std::to_string(request.ranks)));
  }
  if (line->has("limit")) {
    const auto limit = line->get<std::int64_t>("limit");
    if (limit < 0) {
      throw base::InputError(base::describe("--limit must not be negative", "it is " + std::to_string(limit)));
    }
    request.limit = static_cast<std::uint64_t>(limit);
  }
  return request;
}

void plan_job(const domain::Job& job, const Request& request) {
  const auto files = base::read_checkpoint_files(job.model.path, base::CheckpointPart::small_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  std::optional<model::CheckpointConfig> config;
  if (job.execution.engine != domain::EngineKind::fake || files.find("config.json") != nullptr) {
    config = model::read_config(files);
  }
  const auto probe = probe::make_probe(job, tokenizer);
  const auto& association = dynamic_cast<const probe::AssociationProbe&>(*probe);
  const auto max_tokens = config ? static_cast<std::uint64_t>(config->max_tokens()) : 0;
  const auto audit = probe::audit(association, tokenizer, max_tokens, max_contexts_read);
  print_plan(std::cout, {.job = job,
                         .probe = association,
                         .audit = audit,
                         .config = config,
                         .ranks = request.ranks,
                         .limit = request.limit.value_or(40)});
  if (request.shows_prompts) {
    std::cout << '\n';
    print_prompts(std::cout, association, request.limit.value_or(std::numeric_limits<std::uint64_t>::max()));
  }
  std::cout << std::flush;
}

}  // namespace

int plan_command(const Arguments& arguments) {
  const auto request = parse_arguments(arguments);
  if (request) {
    for (const auto& job : config::load_jobs(request->file, request->overrides)) {
      plan_job(job, *request);
    }
  }
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
