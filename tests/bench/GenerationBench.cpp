// Generates texts for the prompts of a jobs file with our engine, all in one call. See tests/bench/README.md; options
// in ItemBench.hpp, and [--new-tokens 32]. Item: {id, prompt, [temperature 0], [top_k 0], [top_p 1], [seed 0],
// [max_new_tokens]}; value = ids of the new tokens; an end token ends a text.
#include "bench/ItemBench.hpp"

namespace {

using namespace stereosweep;

struct Item {
  std::string id;
  query::Query asked;
};

void run(bench::Options options) {
  const auto new_tokens = static_cast<std::int32_t>(bench::number_option(options, "--new-tokens", 32));
  const auto items = bench::read_items(options.at("--jobs"), [&](const base::Json& row) {
    query::Generate asked;
    asked.prompt = row.at("prompt");
    asked.max_new_tokens = row.value("max_new_tokens", new_tokens);
    asked.temperature = row.value("temperature", 0.0);
    asked.top_k = row.value("top_k", 0);
    asked.top_p = row.value("top_p", 1.0);
    asked.seed = row.value("seed", std::uint64_t{0});
    return Item{row.at("id").dump(), asked};
  });
  std::vector<std::string> ids;
  std::vector<query::Query> queries;
  for (const auto& item : items) {
    ids.push_back(item.id);
    queries.push_back(item.asked);
  }
  bench::ItemBench one(std::move(options), 1024);
  one.answer(bench::first_items(queries));
  const auto answers = one.timed([&] { return one.answer(queries); });
  std::size_t tokens = 0;
  std::vector<std::string> values;
  for (const auto& answer : answers) {
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      throw base::Error(error->message);
    }
    const auto& text = std::get<query::GenerateAnswer>(answer);
    tokens += text.ids.size();
    values.push_back(base::Json(text.ids).dump());
  }
  one.write_results(ids, [&](std::size_t i) { return values[i]; });
  one.report(items.size(), {{"new_tokens", tokens}});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_main("bench_generation", {argv, static_cast<std::size_t>(argc)}, run);
}
