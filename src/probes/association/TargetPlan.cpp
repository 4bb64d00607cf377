#include "probes/association/TargetPlan.hpp"

#include <map>
#include <tuple>
#include <unordered_map>

namespace stereosweep::probes::association {

namespace {

using query::TokenId;

CellStatus status_of(const WordPieces& word, std::uint32_t max_subwords) {
  switch (word.status) {
    case PieceStatus::ok:
      return word.ids.size() > max_subwords ? CellStatus::too_many_subwords : CellStatus::ok;
    case PieceStatus::unknown:
      return CellStatus::unknown_token;
    case PieceStatus::joins:
      return CellStatus::joins;
    case PieceStatus::none:
      return CellStatus::no_tokens;
  }
  return CellStatus::engine_error;
}

bool is_wanted(std::size_t subword, std::size_t num_subwords, const Measures& measures) {
  const bool all = measures.ilps_star || measures.set;
  return all || (measures.ilps && (subword == 0 || subword + 1 == num_subwords));
}

/// Distinct ids with their places.
struct Targets {
  std::vector<TokenId> ids;
  std::unordered_map<TokenId, std::uint32_t> place;
  std::uint32_t ask = 0;
  void add(TokenId id) {
    if (place.emplace(id, static_cast<std::uint32_t>(ids.size())).second) {
      ids.push_back(id);
    }
  }
};

using AskKey = std::tuple<std::size_t, std::size_t, std::vector<TokenId>>;  // masks, length of prefix, prefix

AskKey key_of(const WordPieces& word, std::size_t subword) {
  return {word.ids.size(), subword, {word.ids.begin(), word.ids.begin() + static_cast<std::ptrdiff_t>(subword)}};
}

base::Digest digest_of(const TargetPlan& plan) {
  base::Sha256 hash;
  hash.number(plan.asks.size());
  for (const auto& ask : plan.asks) {
    hash.number(ask.num_masks).number(ask.prefix.size()).number(ask.targets.size());
    hash.update(std::as_bytes(std::span(ask.prefix))).update(std::as_bytes(std::span(ask.targets)));
  }
  hash.number(plan.words.size());
  for (const auto& word : plan.words) {
    hash.number(static_cast<std::uint64_t>(word.status)).number(static_cast<std::uint64_t>(word.num_subwords));
    hash.number(word.places.size());
    for (const auto& place : word.places) {
      hash.number(place.ask).number(place.target);
    }
  }
  return hash.finish();
}

}  // namespace

const std::vector<std::string>& cell_status_names() {
  static const std::vector<std::string> names = {
      "ok",        "set_distance_reaches_one", "set_not_certified", "no_form",    "unknown_token", "joins",
      "no_tokens", "too_many_subwords",        "too_long",          "not_finite", "engine_error"};
  return names;
}

TargetPlan plan_targets(const std::vector<WordPieces>& words, const Measures& measures, std::uint32_t max_subwords) {
  std::map<AskKey, Targets> wanted;  // sorted: the order depends on the words alone
  TargetPlan plan;
  for (const auto& word : words) {
    auto& targets = plan.words.emplace_back();
    targets.status = status_of(word, max_subwords);
    targets.num_subwords = static_cast<std::int32_t>(word.ids.size());
    for (std::size_t subword = 0; targets.status == CellStatus::ok && subword < word.ids.size(); ++subword) {
      if (is_wanted(subword, word.ids.size(), measures)) {
        wanted[key_of(word, subword)].add(word.ids[subword]);
      }
    }
  }
  for (auto& [key, targets] : wanted) {
    targets.ask = static_cast<std::uint32_t>(plan.asks.size());
    plan.asks.push_back({static_cast<std::uint32_t>(std::get<0>(key)), std::get<2>(key), targets.ids});
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t subword = 0; plan.words[i].status == CellStatus::ok && subword < words[i].ids.size(); ++subword) {
      auto& place = plan.words[i].places.emplace_back();
      const auto found = wanted.find(key_of(words[i], subword));
      if (found != wanted.end()) {
        place = {found->second.ask, found->second.place.at(words[i].ids[subword])};
      }
    }
  }
  plan.digest = digest_of(plan);
  return plan;
}

}  // namespace stereosweep::probes::association
