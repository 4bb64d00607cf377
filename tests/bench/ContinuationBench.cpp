// Scores the continuation items of a jobs file with our engine: the numbers that the peers' scripts print, and the
// time that took. See tests/bench/README.md; options in ItemBench.hpp, and [--plan-only 1]: prints what would run,
// without the weights.
// Item: {id, prompt, continuation}; value = sum of the log-probabilities of the continuation's tokens.
#include <unordered_map>

#include "bench/ItemBench.hpp"
#include "engine/causal/TokenTreePlan.hpp"
#include "model/families/Families.hpp"

namespace {

using namespace stereosweep;

struct Item {
  std::string id;
  std::string prompt;
  std::string continuation;
};

Item make_item(const base::Json& row) { return {row.at("id").dump(), row.at("prompt"), row.at("continuation")}; }

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

std::vector<double> score(std::span<const Item> items, bench::ItemBench& bench) {
  const Questions questions(items);
  const auto answers = bench.answer(questions.queries);
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

base::Json plan(std::span<const Item> items, const bench::Options& options) {
  const auto files = base::read_checkpoint_files(options.at("--model"), base::CheckpointPart::small_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto shape = model::shape_of(model::read_causal_specification(files));
  const auto start = std::clock();
  const auto counts = engine::count_causal(engine::plan_causal(Questions(items).queries, tokenizer, shape),
                                           bench::settings_of(options, 1024).batch_tokens);
  return {{"cpu_s", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC},
          {"naive_tokens", counts.naive_tokens},
          {"tokens", counts.tokens},
          {"repeated_tokens", counts.repeated_tokens},
          {"head_rows", counts.head_rows},
          {"sequences", counts.sequences},
          {"batches", counts.batches}};
}

void run(bench::Options options) {
  const auto items = bench::read_items(options.at("--jobs"), make_item);
  if (options.contains("--plan-only")) {
    std::cout << plan(items, options).dump() << '\n';
    return;
  }
  bench::ItemBench bench(std::move(options), 1024);
  score(bench::first_items(items), bench);
  const auto values = bench.timed([&] { return score(items, bench); });
  std::vector<std::string> ids;
  for (const auto& item : items) {
    ids.push_back(item.id);
  }
  bench.write_results(ids, [&](std::size_t i) { return base::format_double(values[i]); });
  bench.report(items.size());
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_main("bench_continuation", {argv, static_cast<std::size_t>(argc)}, run);
}
