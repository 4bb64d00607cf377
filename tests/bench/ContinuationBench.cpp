// Scores the continuation items of a jobs file with our engine: the numbers that the peers' scripts print, and the
// time that took. See tests/bench/README.md.
//   bench_continuation --model DIR --jobs FILE [--dtype D] [--threads N] [--batch-tokens N] [--results FILE]
//                      [--report FILE] [--plan-only 1]
// Item: {id, prompt, continuation}; value = sum of the log-probabilities of the continuation's tokens. `--plan-only`
// prints what would run, without the weights.
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <unordered_map>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Text.hpp"
#include "engine/CausalPlan.hpp"
#include "engine/EngineFactory.hpp"
#include "model/CausalSpecification.hpp"

namespace {

using namespace stereosweep;

struct Item {
  std::string id;
  std::string prompt;
  std::string continuation;
};

std::vector<Item> read_items(const std::string& path) {
  std::vector<Item> items;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    const auto row = base::parse_json(line, path);
    items.push_back({row.at("id").dump(), row.at("prompt"), row.at("continuation")});
  }
  if (items.empty()) {
    throw base::InputError(base::describe(path + " holds no items", "nothing can be measured"));
  }
  return items;
}

// One query for each prompt, and where each item's continuation is.
struct Questions {
  explicit Questions(std::span<const Item> items) {
    std::unordered_map<std::string_view, std::size_t> numbers;
    for (const auto& item : items) {
      const auto [found, is_new] = numbers.try_emplace(item.prompt, queries.size());
      if (is_new) {
        queries.emplace_back(query::Continue{item.prompt, {}, query::Framing::tokenizer});
      }
      auto& continuations = std::get<query::Continue>(queries[found->second]).continuations;
      places.emplace_back(found->second, continuations.size());
      continuations.push_back(item.continuation);
    }
  }
  std::vector<query::Query> queries;
  std::vector<std::pair<std::size_t, std::size_t>> places;
};

std::vector<double> score(std::span<const Item> items, query::Engine& engine) {
  const Questions questions(items);
  const auto answers = engine.answer(questions.queries);
  std::vector<double> values;
  for (const auto& [number, continuation] : questions.places) {
    if (const auto* error = std::get_if<query::QueryError>(&answers[number])) {
      throw base::Error(error->message);
    }
    double sum = 0;
    for (const double token : std::get<query::ContinueAnswer>(answers[number]).logprob[continuation]) {
      sum += token;
    }
    values.push_back(sum);
  }
  return values;
}

base::Json plan(std::span<const Item> items, const base::FileSet& files, const tokenizer::Tokenizer& tokenizer,
                std::int64_t batch_tokens) {
  const auto shape = model::read_causal_specification(files);
  const engine::CausalLimits limits{
      {static_cast<int>(shape.layers.size()), shape.vocabulary, shape.max_tokens}, shape.vocabulary, true};
  const auto start = std::clock();
  const auto counts = count_causal(plan_causal(Questions(items).queries, tokenizer, limits), batch_tokens);
  return {{"cpu_s", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC},
          {"naive_tokens", counts.naive_tokens},
          {"tokens", counts.tokens},
          {"repeated_tokens", counts.repeated_tokens},
          {"head_rows", counts.head_rows},
          {"sequences", counts.sequences},
          {"batches", counts.batches}};
}

int run(std::map<std::string, std::string> options) {
  engine::EngineSettings settings;
  settings.dtype = options["--dtype"] == "bfloat16" ? domain::Dtype::bfloat16 : domain::Dtype::float32;
  settings.device = domain::Device::cpu;
  settings.threads = options.contains("--threads") ? std::stoi(options["--threads"]) : 1;
  settings.batch_tokens = options.contains("--batch-tokens") ? std::stoll(options["--batch-tokens"]) : 1024;
  const auto items = read_items(options.at("--jobs"));
  const auto load_start = std::chrono::steady_clock::now();
  const bool is_plan = options.contains("--plan-only");
  const auto files = base::read_checkpoint_files(
      options.at("--model"), is_plan ? base::CheckpointPart::small_files : base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  if (is_plan) {
    std::cout << plan(items, files, tokenizer, settings.batch_tokens).dump() << '\n';
    return 0;
  }
  const auto engine = engine::make_engine(settings, files, tokenizer);
  score(std::span(items).first(std::min<std::size_t>(2, items.size())), *engine);  // warm up, as the peers do
  const auto before = engine->counts();
  const auto wall_start = std::chrono::steady_clock::now();
  const auto cpu_start = std::clock();
  const auto values = score(items, *engine);
  const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_start;
  const std::chrono::duration<double> load = wall_start - load_start;
  const auto after = engine->counts();
  if (options.contains("--results")) {
    std::ofstream out(options["--results"]);
    for (std::size_t i = 0; i < items.size(); ++i) {
      out << "{\"id\":" << items[i].id << ",\"value\":" << base::format_double(values[i]) << "}\n";
    }
  }
  const base::Json report = {{"items", items.size()},
                             {"load_s", load.count()},
                             {"cpu_s", cpu},
                             {"wall_s", wall.count()},
                             {"distinct_sequences", after.distinct_sequences - before.distinct_sequences},
                             {"distinct_tokens", after.distinct_tokens - before.distinct_tokens},
                             {"head_rows", after.head_rows - before.head_rows},
                             {"device", engine::device_description(settings)}};
  if (options.contains("--report")) {
    std::ofstream(options["--report"]) << report.dump(1) << '\n';
  }
  std::cout << report.dump() << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < argc; i += 2) {
      options[argv[i]] = argv[i + 1];
    }
    return run(std::move(options));
  } catch (const std::exception& error) {
    std::cerr << "bench_continuation: " << error.what() << '\n';
    return 1;
  }
}
