// Asks our engine for the vectors of a jobs file, in one call: the numbers that the peers' scripts print, and the time
// that took. See tests/bench/README.md.
//   bench_embedding --model DIR --jobs FILE [--dtype D] [--threads N] [--batch-tokens N] [--repeat N] [--results FILE]
//                   [--report FILE]
// Item: {id, text, span:[first, last)}, spans in characters; layer (-1) and pool ("last") may be given, too.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Text.hpp"
#include "engine/EngineFactory.hpp"
#include "query/QueryJson.hpp"

namespace {

using namespace stereosweep;

struct Items {
  std::vector<std::string> ids;
  std::vector<query::Query> queries;
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

Items read_items(const std::string& path) {
  Items items;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    const auto row = base::parse_json(line, path);
    const std::string text = row.at("text");
    const base::Json query = {{"kind", "embed"},
                              {"text", text},
                              {"span", {byte_of(text, row.at("span").at(0)), byte_of(text, row.at("span").at(1))}},
                              {"layer", row.value("layer", base::Json(-1))},
                              {"pool", row.value("pool", "last")}};
    items.ids.push_back(row.at("id").dump());
    items.queries.push_back(query::parse_query(query.dump()));
  }
  if (items.ids.empty()) {
    throw base::InputError(base::describe(path + " holds no items", "nothing can be measured"));
  }
  return items;
}

const std::vector<float>& vector_of(const query::Answer& answer) {
  if (const auto* error = std::get_if<query::QueryError>(&answer)) {
    throw base::Error(error->message);
  }
  return std::get<query::EmbedAnswer>(answer).vector;
}

void write_results(const std::string& path, const Items& items, const std::vector<query::Answer>& answers) {
  std::ofstream out(path);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::string text;
    for (const float value : vector_of(answers[i])) {
      text += (text.empty() ? "" : ",") + base::format_double(value);
    }
    out << "{\"id\":" << items.ids[i] << ",\"value\":[" << text << "]}\n";
  }
}

double peak_memory_mib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int run(std::map<std::string, std::string> options) {
  engine::EngineSettings settings;
  settings.dtype = options["--dtype"] == "bfloat16" ? domain::Dtype::bfloat16 : domain::Dtype::float32;
  settings.device = domain::Device::cpu;
  settings.threads = options.contains("--threads") ? std::stoi(options["--threads"]) : 1;
  settings.batch_tokens = options.contains("--batch-tokens") ? std::stoll(options["--batch-tokens"]) : 1024;
  const auto items = read_items(options.at("--jobs"));

  const auto load_start = std::chrono::steady_clock::now();
  const auto files = base::read_checkpoint_files(options.at("--model"), base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto engine = engine::make_engine(settings, files, tokenizer);
  engine->answer(std::span(items.queries).first(std::min<std::size_t>(2, items.queries.size())));  // as the peers do
  const auto before = engine->counts();
  const auto memory_before = peak_memory_mib();
  const auto wall_start = std::chrono::steady_clock::now();
  const int repeats = options.contains("--repeat") ? std::stoi(options["--repeat"]) : 1;
  double cpu = std::numeric_limits<double>::infinity();
  std::vector<query::Answer> answers;
  for (int i = 0; i < repeats; ++i) {
    const auto cpu_start = std::clock();
    answers = engine->answer(items.queries);
    cpu = std::min(cpu, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_start;
  const std::chrono::duration<double> load = wall_start - load_start;
  const auto after = engine->counts();
  const auto memory_after = peak_memory_mib();
  for (const auto& answer : answers) {
    vector_of(answer);
  }
  if (options.contains("--results")) {
    write_results(options["--results"], items, answers);
  }
  const auto times = static_cast<std::uint64_t>(repeats);
  const base::Json report = {{"items", items.queries.size()},
                             {"load_s", load.count()},
                             {"cpu_s", cpu},  // of the fastest repetition
                             {"wall_s", wall.count() / repeats},
                             {"distinct_sequences", (after.distinct_sequences - before.distinct_sequences) / times},
                             {"distinct_tokens", (after.distinct_tokens - before.distinct_tokens) / times},
                             {"memory_loaded_mib", memory_before},
                             {"memory_mib", memory_after},
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
    std::cerr << "bench_embedding: " << error.what() << '\n';
    return 1;
  }
}
