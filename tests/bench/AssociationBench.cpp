// Scores the association items of a jobs file with our engine: the numbers that the peers' scripts print, and the
// time that took. See tests/bench/README.md.
//   bench_association --model DIR --jobs FILE [--measure ilps|set|set_first] [--dtype D] [--threads N] [--batch-tokens
//   N]
//   [--repeat N]
//                     [--results FILE] [--report FILE]
// Item: {id, text, prior_text, slots:[a,b], piece, trait}; slots: place of the word's first mask in each text.
//   ilps  value = [log P(piece|text) - log P(piece|prior), both]
//   set   value = min over subwords of ln(1 - D), text less prior; earlier subwords filled in
//   set_first  the same for the first subword alone: the slots that ilps reads
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Text.hpp"
#include "engine/EngineFactory.hpp"

namespace {

using namespace stereosweep;
using query::TokenId;

struct Side {
  std::string text;
  std::size_t slot = 0;
};

struct Item {
  std::string id;
  std::array<Side, 2> sides;  // with the group, prior
  std::string piece;
  std::string trait;
};

std::vector<Item> read_items(const std::string& path) {
  std::vector<Item> items;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    const auto row = base::parse_json(line, path);
    items.push_back({row.at("id").dump(),
                     {Side{row.at("text"), row.at("slots").at(0)}, Side{row.at("prior_text"), row.at("slots").at(1)}},
                     row.at("piece"),
                     row.at("trait")});
  }
  if (items.empty()) {
    throw base::InputError(base::describe(path + " holds no items", "nothing can be measured"));
  }
  return items;
}

// Collects what is asked of each distinct (text, filled slots) and finds the answers again.
class Questions {
 public:
  struct Place {
    std::size_t query;
    std::size_t slot;
    std::size_t target;
  };

  explicit Questions(const std::string& mask_token) : mask_token_(mask_token) {}

  Place add(const std::string& text, std::span<const TokenId> filled, std::size_t first, TokenId target, bool set) {
    key_ = text;
    for (const auto id : filled) {
      key_ += '\n' + std::to_string(id);
    }
    const auto [found, is_new] = index_.try_emplace(key_, queries.size());
    if (is_new) {
      query::Fill fill;
      fill.text = text;
      fill.set_distances = set;
      for (auto at = text.find(mask_token_); at != std::string::npos; at = text.find(mask_token_, at + 1)) {
        fill.slots.emplace_back();
      }
      for (std::size_t i = 0; i < filled.size(); ++i) {
        fill.slots.at(first + i).filled = filled[i];
      }
      queries.emplace_back(std::move(fill));
    }
    const auto slot = first + filled.size();
    auto& targets = std::get<query::Fill>(queries[found->second]).slots.at(slot).targets;
    const auto [place, new_target] = targets_.try_emplace({found->second, slot, target}, targets.size());
    if (new_target) {
      targets.push_back(target);
    }
    return {found->second, slot, place->second};
  }

  std::vector<query::Query> queries;

 private:
  struct Hash {
    std::size_t operator()(const std::tuple<std::size_t, std::size_t, TokenId>& key) const {
      const auto [query, slot, target] = key;
      return ((query * 64 + slot) << 20U) ^ static_cast<std::size_t>(target);
    }
  };
  std::string mask_token_;
  std::string key_;
  std::unordered_map<std::string, std::size_t> index_;
  std::unordered_map<std::tuple<std::size_t, std::size_t, TokenId>, std::size_t, Hash> targets_;
};

const query::SlotAnswer& slot_of(const std::vector<query::Answer>& answers, const Questions::Place& place) {
  if (const auto* error = std::get_if<query::QueryError>(&answers[place.query])) {
    throw base::Error(error->message);
  }
  return std::get<query::FillAnswer>(answers[place.query]).slots[place.slot];
}

using Values = std::vector<std::vector<double>>;

Values score_ilps(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer, query::Engine& engine) {
  Questions questions(*tokenizer.mask_token());
  std::vector<std::array<Questions::Place, 2>> places;
  std::unordered_map<std::string, TokenId> pieces;
  for (const auto& item : items) {
    auto [piece, is_new] = pieces.try_emplace(item.piece);
    if (is_new) {
      piece->second = tokenizer.id_of(item.piece).value();
    }
    places.push_back({questions.add(item.sides[0].text, {}, item.sides[0].slot, piece->second, false),
                      questions.add(item.sides[1].text, {}, item.sides[1].slot, piece->second, false)});
  }
  const auto answers = engine.answer(questions.queries);
  Values values;
  values.reserve(items.size());
  for (const auto& pair : places) {
    const double with = slot_of(answers, pair[0]).logprob[pair[0].target];
    const double prior = slot_of(answers, pair[1]).logprob[pair[1].target];
    values.push_back({with - prior, with, prior});
  }
  return values;
}

Values score_set(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer, query::Engine& engine,
                 std::size_t max_subwords) {
  Questions questions(*tokenizer.mask_token());
  std::vector<std::array<std::vector<Questions::Place>, 2>> places(items.size());
  std::unordered_map<std::string, std::vector<TokenId>> traits;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto& ids = traits[items[i].trait];
    if (ids.empty()) {
      ids = tokenizer.encode(items[i].trait, tokenizer::SpecialTokens::leave_out).ids;
      ids.resize(std::min(ids.size(), max_subwords));
    }
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t part = 0; part < ids.size(); ++part) {
        places[i][side].push_back(questions.add(items[i].sides[side].text, std::span(ids).first(part),
                                                items[i].sides[side].slot, ids[part], true));
      }
    }
  }
  const auto answers = engine.answer(questions.queries);
  Values values;
  for (const auto& sides : places) {
    std::array<double, 2> scores{};
    double slots = 0;
    for (std::size_t side = 0; side < 2; ++side) {
      double hardest = std::numeric_limits<double>::infinity();
      for (const auto& place : sides[side]) {
        hardest = std::min(hardest, std::log1p(-slot_of(answers, place).set[place.target].distance_bias));
        ++slots;
      }
      scores[side] = hardest;
    }
    values.push_back({scores[0] - scores[1], slots});
  }
  return values;
}

Values score_every_subword(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer, query::Engine& engine) {
  return score_set(items, tokenizer, engine, std::numeric_limits<std::size_t>::max());
}

Values score_first_subword(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer, query::Engine& engine) {
  return score_set(items, tokenizer, engine, 1);
}

int run(std::map<std::string, std::string> options) {
  const std::string measure = options.contains("--measure") ? options["--measure"] : "ilps";
  engine::EngineSettings settings;
  settings.dtype = options["--dtype"] == "bfloat16" ? domain::Dtype::bfloat16 : domain::Dtype::float32;
  settings.device = domain::Device::cpu;
  settings.threads = options.contains("--threads") ? std::stoi(options["--threads"]) : 1;
  settings.batch_tokens = options.contains("--batch-tokens") ? std::stoll(options["--batch-tokens"]) : 512;
  const auto items = read_items(options.at("--jobs"));
  const bool is_set = measure != "ilps";
  const auto score = measure == "set" ? score_every_subword : is_set ? score_first_subword : score_ilps;

  const auto load_start = std::chrono::steady_clock::now();
  const auto files = base::read_checkpoint_files(options.at("--model"), base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  const auto engine = engine::make_engine(settings, files, tokenizer);
  score(std::span(items).first(std::min<std::size_t>(2, items.size())), tokenizer,
        *engine);  // warm up, as the peers do
  const auto before = engine->counts();
  const auto wall_start = std::chrono::steady_clock::now();
  const auto cpu_start = std::clock();
  const int repeats = options.contains("--repeat") ? std::stoi(options["--repeat"]) : 1;
  for (int i = 1; i < repeats; ++i) {
    score(items, tokenizer, *engine);
  }
  const auto values = score(items, tokenizer, *engine);
  const double cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_start;
  const std::chrono::duration<double> load = wall_start - load_start;
  const auto after = engine->counts();

  double slots = 0;
  if (is_set) {
    for (const auto& value : values) {
      slots += value[1];
    }
  }
  if (options.contains("--results")) {
    std::ofstream out(options["--results"]);
    for (std::size_t i = 0; i < items.size(); ++i) {
      std::string text;
      for (const double value : is_set ? std::vector{values[i][0]} : values[i]) {
        text += (text.empty() ? "" : ",") + base::format_double(value);
      }
      out << "{\"id\":" << items[i].id << ",\"value\":" << (is_set ? text : "[" + text + "]") << "}\n";
    }
  }
  base::Json report = {{"items", items.size()},
                       {"slots", slots},
                       {"load_s", load.count()},
                       {"cpu_s", cpu / repeats},
                       {"wall_s", wall.count() / repeats},
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
    std::cerr << "bench_association: " << error.what() << '\n';
    return 1;
  }
}
