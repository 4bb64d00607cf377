// Scores the association items of a jobs file with our engine: the numbers that the peers' scripts print, and the time
// that took. See tests/bench/README.md; options in ItemBench.hpp, and [--measure ilps|set|set_first].
// Item: {id, text, prior_text, slots:[a,b], piece, trait}; slots: place of the word's first mask in each text.
//   ilps  value = [log P(piece|text) - log P(piece|prior), both]
//   set   value = min over subwords of ln(1 - D), text less prior; earlier subwords filled in
//   set_first  the same for the first subword alone: the slots that ilps reads
#include <array>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "bench/ItemBench.hpp"

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

Item make_item(const base::Json& row) {
  return {row.at("id").dump(),
          {Side{row.at("text"), row.at("slots").at(0)}, Side{row.at("prior_text"), row.at("slots").at(1)}},
          row.at("piece"),
          row.at("trait")};
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

Values score_ilps(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer, bench::ItemBench& bench) {
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
  const auto answers = bench.answer(questions.queries);
  Values values;
  values.reserve(items.size());
  for (const auto& pair : places) {
    const double with = slot_of(answers, pair[0]).logprob[pair[0].target];
    const double prior = slot_of(answers, pair[1]).logprob[pair[1].target];
    values.push_back({with - prior, with, prior});
  }
  return values;
}

Values score_set(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer, bench::ItemBench& bench,
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
  const auto answers = bench.answer(questions.queries);
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

Values score_every_subword(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer,
                           bench::ItemBench& bench) {
  return score_set(items, tokenizer, bench, std::numeric_limits<std::size_t>::max());
}

Values score_first_subword(std::span<const Item> items, const tokenizer::Tokenizer& tokenizer,
                           bench::ItemBench& bench) {
  return score_set(items, tokenizer, bench, 1);
}

void run(bench::Options options) {
  const std::string measure = options.contains("--measure") ? options["--measure"] : "ilps";
  const auto items = bench::read_items(options.at("--jobs"), make_item);
  const bool is_set = measure != "ilps";
  const auto score = measure == "set" ? score_every_subword : is_set ? score_first_subword : score_ilps;
  bench::ItemBench bench(std::move(options), 512);
  score(bench::first_items(items), bench.tokenizer(), bench);
  const auto values = bench.timed([&] { return score(items, bench.tokenizer(), bench); });
  double slots = 0;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < items.size(); ++i) {
    slots += is_set ? values[i][1] : 0;
    ids.push_back(items[i].id);
  }
  bench.write_results(
      ids, [&](std::size_t i) { return is_set ? base::format_double(values[i][0]) : bench::json_numbers(values[i]); });
  bench.report(items.size(), {{"slots", slots}});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_main("bench_association", {argv, static_cast<std::size_t>(argc)}, run);
}
