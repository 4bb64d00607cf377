// Generates texts for the prompts of a jobs file with our engine, all in one call. See tests/bench/README.md; options
// in ItemBench.hpp, and [--new-tokens 32], [--known-lengths 1]: once more with max_new_tokens as long as each text has
// become to see what it costs that lengths are not known. Item: {id, prompt, [temperature 0], [top_k 0], [top_p 1],
// [seed 0], [max_new_tokens]}; value = ids of the new tokens; an end token ends a text.
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
  const auto options_given = options;
  bench::ItemBench one(std::move(options), 1024);
  one.answer(bench::first_items(queries));
  const bool compares = bench::number_option(options_given, "--known-lengths", 0) > 0;
  double known_s = std::numeric_limits<double>::infinity();
  const auto answers = one.timed([&] { return one.answer(queries); });
  if (compares) {
    auto known = queries;
    for (std::size_t i = 0; i < known.size(); ++i) {
      std::get<query::Generate>(known[i]).max_new_tokens =
          static_cast<std::int32_t>(std::get<query::GenerateAnswer>(answers[i]).ids.size());
    }
    for (std::int64_t i = 0; i < bench::number_option(options_given, "--repeat", 1); ++i) {
      const auto start = std::clock();
      one.answer(known);
      known_s = std::min(known_s, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
  }
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
  base::Json more = {{"new_tokens", tokens}};
  if (compares) {
    more["known_lengths_s"] = known_s;
  }
  one.report(items.size(), more);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_main("bench_generation", {argv, static_cast<std::size_t>(argc)}, run);
}
