#include "engine/causal/Generation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/Json.hpp"
#include "base/Profile.hpp"
#include "base/Random.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "engine/readout/Readout.hpp"
#include "engine/readout/SoftmaxRow.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::engine {

namespace {

using base::profile::timed;
using query::TokenId;

query::TokenId end_token(const base::Json& value, const std::string& file) {
  constexpr auto largest = std::numeric_limits<query::TokenId>::max();
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > largest) {
    throw base::InputError(
        base::describe(file + ": \"eos_token_id\" holds " + value.dump(), "it is a token id or a list of them"));
  }
  return value.get<query::TokenId>();
}

// Nothing where the object does not say it.
std::optional<std::vector<query::TokenId>> end_tokens_of(const base::Json& object, const std::string& file) {
  const auto found = object.is_object() ? object.find("eos_token_id") : object.end();
  if (found == object.end() || found->is_null()) {
    return std::nullopt;
  }
  if (!found->is_array()) {
    return std::vector{end_token(*found, file)};
  }
  std::vector<query::TokenId> ids;
  for (const auto& value : *found) {
    ids.push_back(end_token(value, file));
  }
  return ids;
}

// Of the family, where config.json leaves the key out.
std::vector<query::TokenId> end_tokens_of_family(const base::Json& config) {
  const auto type = config.is_object() ? config.find("model_type") : config.end();
  if (!config.is_object() || config.contains("eos_token_id") || type == config.end() || !type->is_string()) {
    return {};
  }
  const auto token = model::usual_end_token(type->get<std::string>());
  return token ? std::vector{*token} : std::vector<query::TokenId>{};
}

// Processors and stopping rules of transformers 5.23, each with the number that means that it does nothing.
constexpr std::pair<std::string_view, std::optional<double>> choosing_keys[] = {
    {"bad_words_ids", std::nullopt},
    {"begin_suppress_tokens", std::nullopt},
    {"constraints", std::nullopt},
    {"diversity_penalty", 0},
    {"dola_layers", std::nullopt},
    {"encoder_no_repeat_ngram_size", 0},
    {"encoder_repetition_penalty", 1},
    {"epsilon_cutoff", 0},
    {"eta_cutoff", 0},
    {"exponential_decay_length_penalty", std::nullopt},
    {"force_words_ids", std::nullopt},
    {"forced_bos_token_id", std::nullopt},
    {"forced_eos_token_id", std::nullopt},
    {"guidance_scale", 1},
    {"min_length", 0},
    {"min_new_tokens", 0},
    {"min_p", 0},
    {"no_repeat_ngram_size", 0},
    {"num_beams", 1},
    {"penalty_alpha", 0},
    {"repetition_penalty", 1},
    {"sequence_bias", std::nullopt},
    {"stop_strings", std::nullopt},
    {"suppress_tokens", std::nullopt},
    {"token_healing", std::nullopt},
    {"top_h", std::nullopt},
    {"typical_p", 1},
    {"watermarking_config", std::nullopt}};

bool does_nothing(const base::Json& value, std::optional<double> neutral) {
  if (value.is_number()) {
    return neutral && value.get<double>() == *neutral;
  }
  if (value.is_boolean()) {
    return !value.get<bool>();
  }
  return value.is_string() ? value.get<std::string>().empty() : value.empty();  // null is empty
}

constexpr std::uint64_t sampling_stream = 1;  // of a query's seed

// The k-th largest logit.
float kth_largest(std::span<const float> logits, std::size_t k) {
  std::vector<float> values(logits.begin(), logits.end());
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(values.begin(), place, values.end(), std::greater<>());
  return *place;
}

bool more_probable(const Candidate& left, const Candidate& right) {
  return left.weight != right.weight ? left.weight > right.weight : left.id < right.id;
}

// Keeps the most probable ones until their mass reaches `top_p` of all. Sorts no more than it must.
void keep_nucleus(std::vector<Candidate>& all, double top_p) {
  double total = 0;
  for (const auto& candidate : all) {
    total += candidate.weight;
  }
  double mass = 0;
  std::size_t kept = 0;
  for (std::size_t sorted = 0; mass < top_p * total && kept < all.size(); ++kept) {
    if (kept == sorted) {
      const auto next = std::min(all.size(), std::max<std::size_t>(256, 4 * sorted));
      std::partial_sort(all.begin() + static_cast<std::ptrdiff_t>(sorted),
                        all.begin() + static_cast<std::ptrdiff_t>(next), all.end(), more_probable);
      sorted = next;
    }
    mass += all[kept].weight;
  }
  all.resize(kept);
  std::sort(all.begin(), all.end(), [](const auto& left, const auto& right) { return left.id < right.id; });
}

// Queries with equal prompts and fields: one text.
struct Request {
  const Opening* opening;
  const query::Generate* asked;
  std::vector<std::uint32_t> queries;
};

auto fields_of(const Request& request) {
  const auto& asked = *request.asked;
  return std::tie(request.opening->ids, asked.max_new_tokens, asked.temperature, asked.top_k, asked.top_p, asked.seed,
                  asked.stop);
}

// By prompt, so that neighbours begin alike.
std::vector<Request> distinct_requests(std::span<const query::Query> queries, std::span<const Opening> openings) {
  std::vector<Request> requests;
  for (const auto& opening : openings) {
    requests.push_back({&opening, &std::get<query::Generate>(queries[opening.query]), {opening.query}});
  }
  std::stable_sort(requests.begin(), requests.end(),
                   [](const Request& left, const Request& right) { return fields_of(left) < fields_of(right); });
  std::vector<Request> distinct;
  for (auto& request : requests) {
    if (!distinct.empty() && fields_of(distinct.back()) == fields_of(request)) {
      distinct.back().queries.push_back(request.queries.front());
    } else {
      distinct.push_back(std::move(request));
    }
  }
  return distinct;
}

// Neighbours that grow together, and what they remember at most.
struct WaveRange {
  BatchRange requests;
  model::KeptRows kept;
};

// A text's own tokens lie in blocks; its last token does not run.
model::KeptRows rows_of(const Request& request, std::size_t shared) {
  const auto own = std::ssize(request.opening->ids) - static_cast<std::int64_t>(shared);
  return {own, own + model::whole_blocks(std::max(0, request.asked->max_new_tokens - 1))};
}

// No wave remembers more than `wave_rows`, unless one text alone does.
std::vector<WaveRange> cut_waves(std::span<const Request> requests, std::int64_t wave_rows) {
  std::vector<WaveRange> waves;
  for (std::size_t number = 0; number < requests.size(); ++number) {
    if (!waves.empty()) {
      const auto shared = common_prefix(requests[number - 1].opening->ids, requests[number].opening->ids);
      const auto more = rows_of(requests[number], shared);
      auto& wave = waves.back();
      if (wave.kept.all + more.all <= wave_rows) {
        wave.kept.prompts += more.prompts;
        wave.kept.all += more.all;
        wave.requests.last = number + 1;
        continue;
      }
    }
    waves.push_back({{number, number + 1}, rows_of(requests[number], 0)});
    waves.back().kept.all += model::slots_per_block;  // the prompts' last block may not be full
  }
  return waves;
}

// Texts that grow together.
class Wave {
 public:
  Wave(const GenerationParts& parts, std::span<const Request> requests, std::int64_t most_rows,
       std::span<query::Answer> answers, query::EngineCounts& counts)
      : parts_(parts),
        requests_(requests),
        answers_(answers),
        counts_(counts),
        memory_(parts.model.remember(most_rows)) {}

  void run() {
    plant();
    while (!growing_.empty()) {
      step();
    }
  }

 private:
  struct Growing {
    const Request* request;
    NewText text;
    std::int32_t branch;  ///< its last token's
    TokenId next = 0;     ///< drawn, not yet in the tree
  };

  // The tree of the prompts.
  void plant() {
    TreeBuilder builder;
    std::vector<std::size_t> tips;
    const std::vector<TokenId>* before = nullptr;
    for (const auto& request : requests_) {
      NewText text(*request.asked, parts_.tokenizer, parts_.end_tokens);
      if (text.is_finished()) {
        write(request, text.take());
        continue;
      }
      const auto& ids = request.opening->ids;
      builder.add(ids, before == nullptr ? 0 : common_prefix(*before, ids));
      builder.end_branch();
      before = &ids;
      tips.push_back(static_cast<std::size_t>(builder.path().back()));
      growing_.push_back({&request, std::move(text), 0});
    }
    tree_ = builder.take();
    for (std::size_t i = 0; i < tips.size(); ++i) {
      growing_[i].branch = builder.branches_of_rows()[tips[i]];
    }
    counts_.distinct_sequences += growing_.size();
  }

  // Runs the tokens that are new, draws the next ones.
  void step() {
    std::map<std::int64_t, std::vector<Growing*>> readers;  // by row
    for (auto& one : growing_) {
      const auto& branch = tree_.branches[static_cast<std::size_t>(one.branch)];
      readers[branch.first + branch.length - 1].push_back(&one);
    }
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> all;
    for (const auto& [row, who] : readers) {
      all.push_back(std::ssize(rows));
      rows.push_back(row);
    }
    counts_.distinct_tokens += static_cast<std::uint64_t>(std::ssize(tree_.ids) - memory_->rows());
    counts_.head_rows += rows.size();
    ProjectionQueue projection(parts_.model.shape().vocabulary, parts_.model.shape().kernels);
    projection.add(timed("body", [&] { return parts_.model.extend(*memory_, tree_, rows); }), all);
    auto reader = readers.begin();
    while (projection.size() > 0) {
      const auto [hidden, count] = projection.take();
      const auto logits = timed("head", [&, &hidden = hidden] { return parts_.model.logits(hidden); });
      const base::profile::Span span("drawing");
      const std::vector<Readers> some(reader, std::next(reader, count));
      std::advance(reader, count);
      choose(some, logits);
    }
    std::erase_if(growing_, [](const Growing& one) { return one.request == nullptr; });
    grow();
  }

  using Readers = std::pair<std::int64_t, std::vector<Growing*>>;

  static bool all_greedy(const Readers& readers) {
    return std::all_of(readers.second.begin(), readers.second.end(),
                       [](const Growing* one) { return one->request->asked->temperature == 0; });
  }

  // The next tokens, a row of logits for each of `readers`. Where nobody draws they are found where the logits are: a
  // vocabulary's width does not travel for one token.
  void choose(std::span<const Readers> readers, const at::Tensor& logits) {
    const bool on_device = parts_.model.shape().kernels == model::Kernels::operators &&
                           std::all_of(readers.begin(), readers.end(), all_greedy);
    const auto found = on_device ? most_probable(logits) : std::vector<std::optional<TokenId>>{};
    const auto host = on_device ? at::Tensor() : on_host(logits);
    for (std::size_t i = 0; i < readers.size(); ++i) {
      const auto row = on_device ? std::span<const float>{} : row_of(host, static_cast<std::int64_t>(i));
      const bool usable = on_device ? found[i].has_value() : all_finite(row);
      for (auto* one : readers[i].second) {
        if (usable) {
          add(*one, on_device ? *found[i] : next_token(row, *one->request->asked, one->text.size()));
        } else {
          finish(*one, not_finite_error(parts_.model.shape().dtype));
        }
      }
    }
  }

  void add(Growing& one, TokenId next) {
    one.next = next;
    one.text.add(one.next);
    if (one.text.is_finished()) {
      finish(one, one.text.take());
    } else if (one.next >= parts_.model.shape().ids) {
      finish(one, query::QueryError{
                      base::describe("the model chose id " + std::to_string(one.next),
                                     "its embeddings have " + std::to_string(parts_.model.shape().ids) + " rows"),
                      query::QueryFault::other});
    }
  }

  void finish(Growing& one, const query::Answer& answer) {
    write(*one.request, answer);
    one.request = nullptr;
  }

  void write(const Request& request, const query::Answer& answer) {
    for (const auto query : request.queries) {
      answers_[query] = answer;
    }
  }

  // One branch of one token for every different continuation of a text.
  void grow() {
    std::map<std::pair<std::int32_t, TokenId>, std::int32_t> added;  // sorted: the tree depends on the texts alone
    for (const auto& one : growing_) {
      added[{one.branch, one.next}] = 0;
    }
    for (auto& [place, number] : added) {
      const auto& parent = tree_.branches[static_cast<std::size_t>(place.first)];
      const auto depth = parent.depth + parent.length;
      number = static_cast<std::int32_t>(tree_.branches.size());
      tree_.branches.push_back({static_cast<std::int32_t>(tree_.ids.size()), 1, place.first, depth});
      tree_.ids.push_back(place.second);
    }
    for (auto& one : growing_) {
      one.branch = added[{one.branch, one.next}];
    }
  }

  const GenerationParts& parts_;
  std::span<const Request> requests_;
  std::span<query::Answer> answers_;
  query::EngineCounts& counts_;
  std::unique_ptr<model::CausalModel::Memory> memory_;
  model::TokenTree tree_;
  std::vector<Growing> growing_;
};

}  // namespace

std::vector<std::string> ignored_generation_keys(const base::FileSet& files) {
  const std::string name = "generation_config.json";
  const auto* content = files.find(name);
  if (content == nullptr) {
    return {};
  }
  const auto document = base::parse_json(content->text(), files.directory() + "/" + name);
  std::vector<std::string> keys;
  for (const auto& [key, neutral] : choosing_keys) {
    const auto found = document.is_object() ? document.find(key) : document.end();
    if (found != document.end() && !does_nothing(*found, neutral)) {
      keys.emplace_back(key);
    }
  }
  return keys;
}

std::vector<query::TokenId> read_end_tokens(const base::FileSet& files) {
  for (const std::string name : {"generation_config.json", "config.json"}) {
    const auto* content = files.find(name);
    if (content == nullptr) {
      continue;
    }
    const auto file = files.directory() + "/" + name;
    const auto document = base::parse_json(content->text(), file);
    if (auto ids = end_tokens_of(document, file)) {
      return *std::move(ids);
    }
    // Of a model that also sees, the part that reads.
    if (document.is_object() && document.contains("text_config")) {
      if (auto ids = end_tokens_of(document["text_config"], file)) {
        return *std::move(ids);
      }
    }
    if (files.find("generation_config.json") == nullptr) {
      return end_tokens_of_family(document);
    }
  }
  return {};
}

NewText::NewText(const query::Generate& asked, const tokenizer::Tokenizer& tokenizer,
                 std::span<const query::TokenId> end_tokens)
    : asked_(&asked), tokenizer_(&tokenizer), end_tokens_(end_tokens), is_finished_(asked.max_new_tokens == 0) {}

void NewText::add(query::TokenId id) {
  if (std::find(end_tokens_.begin(), end_tokens_.end(), id) != end_tokens_.end()) {
    is_finished_ = true;
    return;
  }
  answer_.ids.push_back(id);
  is_finished_ = std::ssize(answer_.ids) >= asked_->max_new_tokens;
  if (asked_->stop.empty()) {
    return;
  }
  auto text = tokenizer_->decode(answer_.ids, tokenizer::Tokenizer::Special::skip);
  auto first = std::string::npos;
  for (const auto& stop : asked_->stop) {
    first = std::min(first, text.find(stop));
  }
  if (first != std::string::npos) {
    text.resize(first);
    answer_.text = std::move(text);
    has_text_ = true;
    is_finished_ = true;
  }
}

query::GenerateAnswer NewText::take() {
  if (!has_text_) {
    answer_.text = tokenizer_->decode(answer_.ids, tokenizer::Tokenizer::Special::skip);
  }
  return std::move(answer_);
}

std::vector<Candidate> candidates(std::span<const float> logits, const query::Generate& asked) {
  const auto k = static_cast<std::size_t>(asked.top_k);
  const bool is_cut = k > 0 && k < logits.size();
  const float largest = *std::max_element(logits.begin(), logits.end());
  const float smallest = is_cut ? kth_largest(logits, k) : *std::min_element(logits.begin(), logits.end());
  std::vector<Candidate> all;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] >= smallest) {
      const double distance = static_cast<double>(logits[i]) - static_cast<double>(largest);
      all.push_back({static_cast<query::TokenId>(i), std::exp(distance / asked.temperature)});
    }
  }
  if (asked.top_p < 1) {
    keep_nucleus(all, asked.top_p);
  }
  return all;
}

query::TokenId next_token(std::span<const float> logits, const query::Generate& asked, std::uint64_t step) {
  if (asked.temperature == 0) {
    return static_cast<query::TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  const auto all = candidates(logits, asked);
  double total = 0;
  for (const auto& candidate : all) {
    total += candidate.weight;
  }
  const double drawn = base::random_unit(asked.seed, sampling_stream, step) * total;
  double mass = 0;
  for (const auto& candidate : all) {
    mass += candidate.weight;
    if (drawn < mass) {
      return candidate.id;
    }
  }
  // Rounding may leave the draw at the very end: the last token with a weight.
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const auto& candidate) { return candidate.weight > 0; });
  return last->id;
}

model::KeptRows most_kept_rows(std::span<const query::Query> queries, std::span<const Opening> openings,
                               std::int64_t wave_rows) {
  model::KeptRows most;
  for (const auto& wave : cut_waves(distinct_requests(queries, openings), wave_rows)) {
    most.prompts = std::max(most.prompts, wave.kept.prompts);
    most.all = std::max(most.all, wave.kept.all);
  }
  return most;
}

void generate(const GenerationParts& parts, std::span<const query::Query> queries, std::span<const Opening> openings,
              std::span<query::Answer> answers, query::EngineCounts& counts) {
  const auto requests = distinct_requests(queries, openings);
  for (const auto& wave : cut_waves(requests, parts.wave_rows)) {
    const auto [first, last] = wave.requests;
    Wave(parts, std::span(requests).subspan(first, last - first), wave.kept.all, answers, counts).run();
  }
}

}  // namespace stereosweep::engine
