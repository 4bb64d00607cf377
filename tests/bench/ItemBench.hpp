// The frame of the programs that run the peers' items through our engine: options, loading, timing, report.
// Options: --model DIR --jobs FILE [--dtype float32|bfloat16] [--threads N] [--batch-tokens N] [--repeat N]
//          [--calls N] [--device cpu|cuda] [--results FILE] [--report FILE] [--profile 1]: after the report, where the
//          time went
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <exception>
#include <fstream>
#include <future>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "engine/EngineFactory.hpp"

namespace stereosweep::bench {

using Options = std::map<std::string, std::string>;

inline std::int64_t number_option(const Options& options, const std::string& name, std::int64_t otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : std::stoll(found->second);
}

// One item of each line of a JSON lines file, by `make_item(row)`. Throws base::InputError where there is none.
template <typename MakeItem>
auto read_items(const std::string& path, MakeItem make_item) {
  std::vector<decltype(make_item(base::Json()))> items;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    items.push_back(make_item(base::parse_json(line, path)));
  }
  if (items.empty()) {
    throw base::InputError(base::describe(path + " holds no items", "nothing can be measured"));
  }
  return items;
}

// The first items, which warm the engine up: the peers do the same.
template <typename Item>
std::span<const Item> first_items(const std::vector<Item>& items) {
  return std::span(items).first(std::min<std::size_t>(2, items.size()));
}

inline engine::EngineSettings settings_of(const Options& options, std::int64_t batch_tokens) {
  engine::EngineSettings settings;
  const auto dtype = options.find("--dtype");
  settings.dtype =
      dtype != options.end() && dtype->second == "bfloat16" ? query::Dtype::bfloat16 : query::Dtype::float32;
  const auto device = options.find("--device");
  settings.device = device != options.end() && device->second == "cuda" ? query::Device::cuda : query::Device::cpu;
  settings.threads = static_cast<int>(number_option(options, "--threads", 1));
  settings.batch_tokens = number_option(options, "--batch-tokens", batch_tokens);
  return settings;
}

// A loaded engine, and what its work cost.
class ItemBench {
 public:
  ItemBench(Options options, std::int64_t batch_tokens)
      : options_(std::move(options)), settings_(settings_of(options_, batch_tokens)) {
    if (options_.contains("--profile")) {
      base::profile::enable();
    }
    const auto start = std::chrono::steady_clock::now();
    const auto files = base::read_checkpoint_files(options_.at("--model"), base::CheckpointPart::all_files);
    tokenizer_ = std::make_unique<tokenizer::Tokenizer>(tokenizer::Tokenizer::from_files(files));
    engine_ = engine::make_engine(settings_, files, *tokenizer_);
    device_ = engine::device_description(settings_, files);
    load_ = std::chrono::steady_clock::now() - start;
  }

  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }

  // Answers as a run asks for them: in `--calls` calls (default 1), the next of which is planned, and the last of which
  // is read, beside the one that runs.
  std::vector<query::Answer> answer(std::span<const query::Query> queries) {
    const auto calls = static_cast<std::size_t>(number_option(options_, "--calls", 1));
    const auto each = std::max<std::size_t>(1, (queries.size() + calls - 1) / calls);
    const auto plan = [&](std::size_t begin) {
      return begin < queries.size() ? engine_->plan(queries.subspan(begin, std::min(each, queries.size() - begin)))
                                    : nullptr;
    };
    const auto read = [&](std::unique_ptr<query::Call> call) {
      auto answers = call ? call->read() : std::vector<query::Answer>();
      counts_ += call ? call->cost() : query::EngineCounts();
      return answers;
    };
    const auto start = std::chrono::steady_clock::now();
    std::vector<query::Answer> all;
    const auto keep = [&](std::vector<query::Answer> some) {
      all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    };
    std::unique_ptr<query::Call> last;
    auto call = plan(0);
    for (std::size_t begin = 0; begin < queries.size(); begin += each) {
      auto next = std::async(std::launch::async, plan, begin + each);
      auto answers = std::async(std::launch::async, read, std::move(last));
      call->run();
      keep(answers.get());
      last = std::exchange(call, next.get());
    }
    keep(read(std::move(last)));
    answering_ = std::min(answering_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return all;
  }

  // Runs `work` `--repeat` times; the fastest counts. Returns what it returned last.
  template <typename Work>
  auto timed(Work work) {
    answering_ = std::numeric_limits<double>::infinity();
    repeats_ = static_cast<std::uint64_t>(std::max<std::int64_t>(1, number_option(options_, "--repeat", 1)));
    const auto before = counts_;
    auto values = timed_once(work);
    for (std::uint64_t i = 1; i < repeats_; ++i) {
      values = timed_once(work);
    }
    sequences_ = (counts_.distinct_sequences - before.distinct_sequences) / repeats_;
    tokens_ = (counts_.distinct_tokens - before.distinct_tokens) / repeats_;
    head_rows_ = (counts_.head_rows - before.head_rows) / repeats_;
    return values;
  }

  // {"id":...,"value":...} a line, to `--results` where it is given; `value(i)` is JSON text.
  template <typename Value>
  void write_results(std::span<const std::string> ids, Value value) const {
    const auto path = options_.find("--results");
    if (path == options_.end()) {
      return;
    }
    std::ofstream out(path->second);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      out << "{\"id\":" << ids[i] << ",\"value\":" << value(i) << "}\n";
    }
  }

  // Printed, and written to `--report`. `more`: what the program adds.
  void report(std::size_t items, const base::Json& more = base::Json::object()) const {
    base::Json report = {{"items", items},
                         {"load_s", load_.count()},
                         {"cpu_s", cpu_},
                         {"wall_s", wall_},
                         {"answering_s", answering_},
                         {"distinct_sequences", sequences_},
                         {"distinct_tokens", tokens_},
                         {"head_rows", head_rows_},
                         {"device", device_}};
    report.update(more);
    if (const auto path = options_.find("--report"); path != options_.end()) {
      std::ofstream(path->second) << report.dump(1) << '\n';
    }
    std::cout << report.dump() << '\n';
    if (options_.contains("--profile")) {
      std::cout << base::profile::report();
    }
  }

 private:
  template <typename Work>
  auto timed_once(Work& work) {
    const auto wall_start = std::chrono::steady_clock::now();
    const auto cpu_start = std::clock();
    auto values = work();
    cpu_ = std::min(cpu_, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
    wall_ = std::min(wall_, std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count());
    return values;
  }

  Options options_;
  engine::EngineSettings settings_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<query::Engine> engine_;
  query::EngineCounts counts_;                                  // of all calls so far
  double answering_ = std::numeric_limits<double>::infinity();  // the part of the fastest run that the engine takes
  std::string device_;
  std::chrono::duration<double> load_{};
  double cpu_ = std::numeric_limits<double>::infinity();   // s
  double wall_ = std::numeric_limits<double>::infinity();  // s
  std::uint64_t repeats_ = 1;
  std::uint64_t sequences_ = 0;
  std::uint64_t tokens_ = 0;
  std::uint64_t head_rows_ = 0;
};

// "[1,2]"
inline std::string json_numbers(std::span<const double> values) {
  std::string text;
  for (const double value : values) {
    text += (text.empty() ? "" : ",") + base::format_double(value);
  }
  return "[" + text + "]";
}

// The program's main function: options as pairs, errors on standard error.
template <typename Run>
int run_main(const std::string& name, std::span<char*> arguments, Run run) {
  try {
    Options options;
    for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
      options[arguments[i]] = arguments[i + 1];
    }
    run(std::move(options));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace stereosweep::bench
