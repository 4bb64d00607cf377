// Asks our engine for the vectors of a jobs file, in one call: the numbers that the peers' scripts print, and the time
// that took. See tests/bench/README.md; options in ItemBench.hpp.
// Item: {id, text, span:[first, last)}, spans in characters; layer (-1) and pool ("last") may be given, too.
#include <sys/resource.h>

#include "bench/ItemBench.hpp"
#include "query/QueryJson.hpp"

namespace {

using namespace stereosweep;

struct Item {
  std::string id;
  query::Query query;
};

// Byte at which a character begins.
std::size_t byte_of(const std::string& text, std::size_t character) {
  std::size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    const bool starts = (static_cast<unsigned char>(text[byte]) & 0xC0U) != 0x80U;
    if (starts && character-- == 0) {
      break;
    }
  }
  return byte;
}

Item make_item(const base::Json& row) {
  const std::string text = row.at("text");
  const base::Json query = {{"kind", "embed"},
                            {"text", text},
                            {"span", {byte_of(text, row.at("span").at(0)), byte_of(text, row.at("span").at(1))}},
                            {"layer", row.value("layer", base::Json(-1))},
                            {"pool", row.value("pool", "last")}};
  return {row.at("id").dump(), query::parse_line(query.dump()).query};
}

const std::vector<float>& vector_of(const query::Answer& answer) {
  if (const auto* error = std::get_if<query::QueryError>(&answer)) {
    throw base::Error(error->message);
  }
  return std::get<query::EmbedAnswer>(answer).vector;
}

double peak_memory_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void run(bench::Options options) {
  std::vector<std::string> ids;
  std::vector<query::Query> queries;
  for (auto& item : bench::read_items(options.at("--jobs"), make_item)) {
    ids.push_back(std::move(item.id));
    queries.push_back(std::move(item.query));
  }
  bench::ItemBench bench(std::move(options), 1024);
  bench.answer(bench::first_items(queries));
  const auto memory_before = peak_memory_mib();
  const auto answers = bench.timed([&] { return bench.answer(queries); });
  const auto memory_after = peak_memory_mib();
  for (const auto& answer : answers) {
    vector_of(answer);
  }
  bench.write_results(ids, [&](std::size_t i) {
    const auto& vector = vector_of(answers[i]);
    return bench::json_numbers(std::vector<double>(vector.begin(), vector.end()));
  });
  bench.report(queries.size(), {{"memory_loaded_mib", memory_before}, {"memory_mib", memory_after}});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_main("bench_embedding", {argv, static_cast<std::size_t>(argc)}, run);
}
