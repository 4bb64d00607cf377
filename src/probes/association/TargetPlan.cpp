#include <algorithm>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "probes/association/Association.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::probes::association {
namespace {

using query::TokenId;

constexpr std::string_view white_space = " \t\n\r\f\v";

/// Beyond this many the cache starts anew: a word glued to a group's name has a neighbourhood per group.
constexpr std::size_t max_cached_plans = 2048;

bool is_continuation_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// Tokens of a text before, over and after a span.
struct Parts {
  std::vector<TokenId> before;
  std::vector<TokenId> inside;
  std::vector<TokenId> after;
};

Parts split_at(const tokenizer::Encoding& encoding, base::Span span) {
  Parts parts;
  for (std::size_t i = 0; i < encoding.ids.size(); ++i) {
    const base::Span& token = encoding.offsets[i];
    const bool overlaps = token.begin < span.end && token.end > span.begin;
    const bool earlier = token.end <= span.begin && parts.inside.empty();
    (overlaps ? parts.inside : earlier ? parts.before : parts.after).push_back(encoding.ids[i]);
  }
  return parts;
}

/// A blank that the mask eats and no token of the word carries is the word's own first piece: byte-level BPE without a
/// merge of the blank and the word's first byte. `known`: ids before a mask in the place of the word.
void take_blanks(const tokenizer::Encoding& encoding, std::string_view text_before, const std::vector<TokenId>& known,
                 Parts& parts) {
  const auto& before = parts.before;
  if (before.size() <= known.size() || !std::equal(known.begin(), known.end(), before.begin())) {
    return;
  }
  const auto last = text_before.find_last_not_of(white_space);
  const std::size_t blank = last == std::string::npos ? 0 : last + 1;
  if (text_before.size() != blank + 1 || encoding.offsets[known.size()].begin < blank) {
    return;
  }
  parts.inside.insert(parts.inside.begin(), before.begin() + std::ssize(known), before.end());
  parts.before.resize(known.size());
}

bool is_wanted(std::size_t subword, std::size_t num_subwords, const Measures& measures) {
  const bool is_end = subword == 0 || subword + 1 == num_subwords;
  return std::ranges::any_of(measures, [&](Measure measure) { return measure != Measure::ilps || is_end; });
}

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

std::vector<WordPieces> locate(const tokenizer::Tokenizer& tokenizer, const Surroundings& surroundings,
                               const std::vector<std::string>& words) {
  const auto mask = tokenizer.mask_token();
  STEREOSWEEP_ASSERT(mask.has_value(), "a masked model's tokenizer");
  const auto& before = surroundings.before;
  const auto encoded = [&](const std::string& word) {
    return tokenizer.encode(before + word + surroundings.after, tokenizer::SpecialTokens::leave_out);
  };
  const auto around_mask = split_at(encoded(*mask), {before.size(), before.size() + mask->size()});
  const auto unknown = tokenizer.unknown_id();
  return base::mapped(words, [&](const std::string& word) {
    const auto encoding = encoded(word);
    auto parts = split_at(encoding, {before.size(), before.size() + word.size()});
    take_blanks(encoding, before, around_mask.before, parts);
    WordPieces pieces{.ids = std::move(parts.inside), .status = CellStatus::ok};
    if (parts.before != around_mask.before || parts.after != around_mask.after) {
      pieces.status = CellStatus::joins;
    } else if (pieces.ids.empty()) {
      pieces.status = CellStatus::no_tokens;
    } else if (unknown && base::contains(pieces.ids, *unknown)) {
      pieces.status = CellStatus::unknown_token;
    }
    return pieces;
  });
}

Surroundings neighbourhood(const Surroundings& surroundings, std::string_view mask_token) {
  const std::string_view before = surroundings.before;
  const std::string_view after = surroundings.after;
  std::size_t begin = before.find_last_not_of(white_space);
  if (begin == std::string_view::npos) {
    begin = 0;
  } else if (begin + 1 == before.size()) {  // glued to the word: all of it
    begin = before.find_last_of(white_space);
    begin = begin == std::string_view::npos ? 0 : begin;
  } else if (before.substr(0, begin + 1).ends_with(mask_token)) {  // added tokens may strip white space
    begin = begin + 1 - mask_token.size();
  } else {
    while (begin > 0 && is_continuation_byte(before[begin])) {
      --begin;
    }
  }
  const std::size_t end = after.find_first_of(white_space);
  return {.before = std::string(before.substr(begin)),
          .after = std::string(after.substr(0, end == std::string_view::npos ? end : end + 1))};
}

TargetPlan plan_targets(const std::vector<WordPieces>& words, const Measures& measures, std::uint32_t max_subwords) {
  std::map<AskKey, std::vector<TokenId>> wanted;  // distinct ids; sorted: the order depends on the words alone
  TargetPlan plan;
  for (const auto& word : words) {
    auto& targets = plan.words.emplace_back();
    targets.status = word.status;
    if (word.status == CellStatus::ok && word.ids.size() > max_subwords) {
      targets.status = CellStatus::too_many_subwords;
    }
    targets.num_subwords = static_cast<std::int32_t>(word.ids.size());
    for (std::size_t subword = 0; targets.status == CellStatus::ok && subword < word.ids.size(); ++subword) {
      if (is_wanted(subword, word.ids.size(), measures)) {
        base::add_once(wanted[key_of(word, subword)], word.ids[subword]);
      }
    }
  }
  for (const auto& [key, targets] : wanted) {
    plan.asks.push_back({static_cast<std::uint32_t>(std::get<0>(key)), std::get<2>(key), targets});
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (std::size_t subword = 0; plan.words[i].status == CellStatus::ok && subword < words[i].ids.size(); ++subword) {
      auto& place = plan.words[i].places.emplace_back();
      if (const auto found = wanted.find(key_of(words[i], subword)); found != wanted.end()) {
        const auto target = std::ranges::find(found->second, words[i].ids[subword]);
        place = {static_cast<std::uint32_t>(std::distance(wanted.begin(), found)),
                 static_cast<std::uint32_t>(target - found->second.begin())};
      }
    }
  }
  plan.digest = digest_of(plan);
  return plan;
}

PlanCache::PlanCache(const tokenizer::Tokenizer& tokenizer, const std::vector<std::string>& words,
                     const Measures& measures, std::uint32_t max_subwords)
    : tokenizer_(tokenizer),
      mask_token_(tokenizer.mask_token().value_or("")),
      words_{words, base::mapped(words, sweep::capitalise)},
      measures_(measures),
      max_subwords_(max_subwords) {
  STEREOSWEEP_ASSERT(!mask_token_.empty(), "a masked model's tokenizer");
}

std::vector<WordPieces> PlanCache::pieces(const Surroundings& surroundings, WordCase word_case) const {
  return locate(tokenizer_, surroundings, words(word_case));
}

std::shared_ptr<const TargetPlan> PlanCache::find(const Surroundings& surroundings, WordCase word_case) const {
  const Surroundings near = neighbourhood(surroundings, mask_token_);
  std::string key = word_case == WordCase::capitalised ? "C" : "l";
  key.append(near.before).push_back('\0');
  key.append(near.after);
  {
    const std::lock_guard lock(mutex_);
    const auto found = plans_.find(key);
    if (found != plans_.end() && found->second != nullptr) {
      return found->second;
    }
  }
  const auto whole = pieces(surroundings, word_case);
  auto plan = std::make_shared<const TargetPlan>(plan_targets(whole, measures_, max_subwords_));
  // The neighbourhood is believed only where it alone gives the same pieces as the whole text.
  const bool is_local = whole == pieces(near, word_case);
  const std::lock_guard lock(mutex_);
  if (plans_.size() >= max_cached_plans) {
    plans_.clear();
  }
  plans_[key] = is_local ? plan : nullptr;
  return plan;
}

}  // namespace stereosweep::probes::association
