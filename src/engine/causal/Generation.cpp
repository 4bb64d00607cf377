#include "engine/causal/Generation.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/process/Profile.hpp"
#include "engine/causal/GrowingTree.hpp"
#include "engine/causal/NewText.hpp"
#include "engine/readout/BatchSampler.hpp"
#include "engine/readout/HiddenRows.hpp"
#include "model/causal/TokenTree.hpp"

namespace stereosweep::engine {

namespace {

using base::profile::timed;
using query::TokenId;

// Queries with equal prompts and fields: one text.
struct Request {
  const QueryTokens* opening;
  const query::Generate* asked;
  std::vector<std::uint32_t> queries;
};

auto fields_of(const Request& request) {
  const auto& asked = *request.asked;
  return std::tie(request.opening->ids, asked.max_new_tokens, asked.temperature, asked.top_k, asked.top_p, asked.seed,
                  asked.stop, asked.repetition_penalty, asked.thought);
}

// By prompt, so that neighbours begin alike.
std::vector<Request> distinct_requests(std::span<const query::Query> queries, std::span<const QueryTokens> openings) {
  std::map<decltype(fields_of({})), Request> distinct;  // what the fields refer to, queries and openings own
  for (const auto& opening : openings) {
    const Request request{&opening, &std::get<query::Generate>(queries[opening.query]), {}};
    distinct.try_emplace(fields_of(request), request).first->second.queries.push_back(opening.query);
  }
  return base::mapped(distinct, [](const auto& entry) { return entry.second; });
}

std::vector<const std::vector<TokenId>*> prompts_of(std::span<const Request> requests) {
  return base::mapped(requests, [](const Request& request) { return &request.opening->ids; });
}

// On a device each level of a tree costs every step five kernels a layer. A first token that is common to all prompts
// (the one that begins every text) runs again instead.
std::size_t least_shared_by(model::Kernels kernels) { return kernels == model::Kernels::operators ? 2 : 1; }

// Rows that a text still adds to the tree when it has got `drawn` tokens: its last token does not run, but its prompt's
// last one runs with it.
std::int32_t rows_to_come(const query::Generate& asked, std::size_t drawn) {
  return static_cast<std::int32_t>(std::max<std::int64_t>(0, asked.max_new_tokens - static_cast<std::int64_t>(drawn)));
}

// Slots that a text takes beside its prompt's beginning once it has `rows` rows more than the `drawn` ones of now, or
// is as long as it may become.
std::int64_t slots_with(const query::Generate& asked, std::size_t drawn, std::int32_t rows) {
  return model::whole_blocks(static_cast<std::int64_t>(drawn) + std::min(rows, rows_to_come(asked, drawn)));
}

// Rows for which a text that enters must have room, beside those that grow: few texts become as long as they may. On a
// device what a text adds lies together, and room for all of it is set aside.
std::int32_t rows_ahead(model::Kernels kernels) {
  return kernels == model::Kernels::operators ? std::numeric_limits<std::int32_t>::max() : 32;
}

// The texts of a call. As many grow at once as are sure of some more rows; where one ends, the next ones enter. Where
// room runs out, what is kept of texts that ended is forgotten, and then the last ones that entered wait: they run
// anew, with what they have drawn, before others enter.
class Texts {
 public:
  Texts(const GenerationParts& parts, std::span<const Request> requests, std::int64_t most_rows,
        std::span<query::Answer> answers, query::EngineCounts& counts, KeptTexts* kept)
      : parts_(parts),
        requests_(requests),
        answers_(answers),
        counts_(counts),
        kept_(kept),
        ahead_(rows_ahead(parts.model.shape().kernels)),
        tree_(tree_with(kept != nullptr ? kept->tree : model::TokenTree())) {
    if (kept_ != nullptr) {
      memory_ = kept_->memory ? std::move(kept_->memory) : parts.model.remember(parts.wave_rows);
      memory_->keep_only(tree_.kept_rows());
      if (!all_have_room()) {
        *std::exchange(kept_, nullptr) = {};
        memory_.reset();
        tree_ = tree_with({});
      }
    }
    if (!memory_) {
      memory_ = parts.model.remember(most_rows);
    }
  }

  void run() {
    enter();
    while (!growing_.empty()) {
      make_room();
      grow();
      step();
      const auto before = growing_.size();
      std::erase_if(growing_, [](const Growing& one) { return one.request == nullptr; });
      const bool any_ended = growing_.size() < before;
      if (any_ended || ++steps_since_tidy_ == steps_per_tidy) {
        tidy(next_to_enter());
      }
      if (any_ended) {
        enter();
      }
    }
    if (kept_ != nullptr) {
      tidy(std::nullopt);
      *kept_ = {std::move(memory_), tree_.tree()};
    }
  }

 private:
  struct Growing {
    const Request* request;
    NewText text;
    std::int32_t branch;  ///< its last token's
    TokenId next = 0;     ///< not yet in the tree
  };
  struct Ended {
    std::int32_t branch;
    std::int64_t slots;
  };
  using Readers = std::pair<std::int64_t, std::vector<Growing*>>;  ///< of a row

  // Every token is a branch until then.
  static constexpr int steps_per_tidy = 16;

  GrowingTree tree_with(const model::TokenTree& kept) const {
    return {prompts_of(requests_), least_shared_by(parts_.model.shape().kernels), kept};
  }

  // To enter at once, beside what is kept of them.
  bool all_have_room() const {
    auto slots = memory_->slots_in_use() + tree_.slots_of_beginnings() - tree_.planted_slots();
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const auto& asked = *requests_[i].asked;
      slots += slots_with(asked, 0, ahead_);
      longest = std::max(longest, tree_.slots_of_beginning(i) + slots_with(asked, 0, asked.max_new_tokens));
    }
    return std::max(slots, longest) <= parts_.wave_rows;
  }

  // Forgets what no text and not the `next` one needs.
  void tidy(std::optional<std::size_t> next) {
    std::vector<std::int32_t*> tips;
    for (auto& one : growing_) {
      tips.push_back(&one.branch);
    }
    for (auto& one : ended_) {
      tips.push_back(&one.branch);
    }
    memory_->keep_only(tree_.keep_only(tips, next));
    steps_since_tidy_ = 0;
  }

  std::size_t place_of(const Growing& one) const { return static_cast<std::size_t>(one.request - requests_.data()); }

  std::optional<std::size_t> next_to_enter() const {
    const auto next = waiting_.empty() ? next_ : place_of(waiting_.back());
    return next < requests_.size() ? std::optional(next) : std::nullopt;
  }

  // What is taken once all that grow have `rows` more.
  std::int64_t slots_ahead(std::int32_t rows) const {
    // Texts that draw alike share rows, and where one of them ends it may leave a block half used.
    auto taken = memory_->slots_in_use();
    auto planned = tree_.planted_slots();
    for (const auto& one : growing_) {
      const auto slots = slots_with(*one.request->asked, one.text.size(), rows);
      taken += slots - slots_with(*one.request->asked, one.text.size(), 0);
      planned += slots;
    }
    for (const auto& one : ended_) {
      planned += one.slots;
    }
    return std::max(taken, planned);
  }

  // For the next row of all that grow; one text may take more than there is.
  void make_room() {
    while (growing_.size() + ended_.size() > 1 && slots_ahead(1) > parts_.wave_rows) {
      if (ended_.empty()) {
        waiting_.push_back(std::move(growing_.back()));
        growing_.pop_back();
      } else {
        ended_.resize(ended_.size() / 2);
      }
      tidy(std::nullopt);
    }
  }

  // Lets texts in, in their order, while there is room for them and for some rows more of all.
  void enter() {
    auto slots = slots_ahead(ahead_);
    while (!waiting_.empty() || next_ < requests_.size()) {
      if (waiting_.empty()) {
        const auto& request = requests_[next_++];
        NewText text(*request.asked, parts_.tokenizer, parts_.end_tokens);
        if (text.is_finished()) {
          write(request, text.take());
          continue;
        }
        waiting_.push_back({&request, std::move(text), GrowingTree::root, request.opening->ids.back()});
        ++counts_.distinct_sequences;
      }
      auto& one = waiting_.back();
      const auto place = place_of(one);
      slots += tree_.missing_slots(place) + slots_with(*one.request->asked, one.text.size(), ahead_);
      if (slots > parts_.wave_rows && !growing_.empty()) {
        return;
      }
      one.branch = tree_.plant(place, rows_to_come(*one.request->asked, 0));
      if (const auto drawn = one.text.ids(); !drawn.empty()) {  // all but the last one run again
        std::vector<TokenId> again = {one.request->opening->ids.back()};
        again.insert(again.end(), drawn.begin(), drawn.end() - 1);
        one.branch = tree_.add(one.branch, again, rows_to_come(*one.request->asked, drawn.size()));
      }
      growing_.push_back(std::move(one));
      waiting_.pop_back();
    }
  }

  // Runs the tokens that are new, draws the next ones.
  void step() {
    std::map<std::int64_t, std::vector<Growing*>> by_row;
    for (auto& one : growing_) {
      const auto& branch = tree_.tree().branches[static_cast<std::size_t>(one.branch)];
      by_row[branch.first + branch.length - 1].push_back(&one);
    }
    const std::vector<Readers> readers(by_row.begin(), by_row.end());
    const auto rows = base::mapped(readers, &Readers::first);
    std::vector<std::int64_t> all(rows.size());
    std::iota(all.begin(), all.end(), 0);
    counts_.distinct_tokens += static_cast<std::uint64_t>(std::ssize(tree_.tree().ids) - memory_->rows());
    counts_.head_rows += rows.size();
    ProjectionQueue projection(parts_.model.shape().vocabulary, parts_.model.shape().kernels);
    projection.add(timed("body", [&] { return parts_.model.extend(*memory_, tree_.tree(), rows); }), all);
    for (std::span<const Readers> left = readers; !left.empty();) {
      const auto [hidden, count] = projection.take();
      const auto logits = timed("head", [&, &hidden = hidden] { return parts_.model.logits(hidden); });
      const base::profile::Span span("drawing");
      choose(left.first(count), logits);
      left = left.subspan(count);
    }
  }

  // The next tokens, a row of logits for each of `readers`.
  void choose(std::span<const Readers> readers, const at::Tensor& logits) {
    std::vector<DrawTask> tasks;
    std::vector<Growing*> texts;
    for (std::size_t row = 0; row < readers.size(); ++row) {
      for (auto* one : readers[row].second) {
        if (const auto given = one->text.given()) {
          add(*one, *given, 0);
          continue;
        }
        tasks.push_back({static_cast<std::int64_t>(row), one->request->asked, one->text.size(),
                         one->request->opening->ids, one->text.ids()});
        texts.push_back(one);
      }
    }
    if (tasks.empty()) {
      return;
    }
    const auto drawn = draw_tokens(logits, tasks, parts_.model.shape().kernels);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      drawn[i] ? add(*texts[i], drawn[i]->id, drawn[i]->logprob)
               : finish(*texts[i], not_finite_error(parts_.model.shape().dtype));
    }
  }

  void add(Growing& one, TokenId next, double logprob) {
    one.next = next;
    one.text.add(one.next, logprob);
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
    if (kept_ != nullptr && waiting_.empty()) {
      const auto& tip = tree_.tree().branches[static_cast<std::size_t>(one.branch)];
      const auto rows = tip.depth + tip.length - (std::ssize(one.request->opening->ids) - 1);
      ended_.push_back({one.branch, model::whole_blocks(rows)});
    }
    one.request = nullptr;
  }

  void write(const Request& request, const query::Answer& answer) {
    for (const auto query : request.queries) {
      answers_[query] = answer;
    }
  }

  // One branch of one token for every different continuation of a text.
  void grow() {
    // Sorted: the tree depends on the texts alone. First the rows that may follow, then the number of the branch.
    std::map<std::pair<std::int32_t, TokenId>, std::int32_t> added;
    for (const auto& one : growing_) {
      auto& room = added[{one.branch, one.next}];
      room = std::max(room, rows_to_come(*one.request->asked, one.text.size() + 1));
    }
    for (auto& [place, number] : added) {
      number = tree_.add(place.first, {&place.second, 1}, number);
    }
    for (auto& one : growing_) {
      one.branch = added[{one.branch, one.next}];
    }
  }

  const GenerationParts& parts_;
  std::span<const Request> requests_;
  std::span<query::Answer> answers_;
  query::EngineCounts& counts_;
  KeptTexts* kept_;     ///< null: a text is forgotten when it ends
  std::int32_t ahead_;  ///< rows
  GrowingTree tree_;
  std::unique_ptr<model::CausalModel::Memory> memory_;
  std::vector<Growing> growing_;  ///< in the order of the requests
  std::vector<Growing> waiting_;  ///< that have begun, the next one last: their branches are none
  std::vector<Ended> ended_;      ///< texts that are kept
  std::size_t next_ = 0;          ///< request that has not begun
  int steps_since_tidy_ = 0;
};

}  // namespace

model::KeptRows most_kept_rows(std::span<const query::Query> queries, std::span<const QueryTokens> openings,
                               std::int64_t wave_rows, model::Kernels kernels) {
  const auto requests = distinct_requests(queries, openings);
  const GrowingTree tree(prompts_of(requests), least_shared_by(kernels));
  const auto prompts = tree.slots_of_beginnings();
  std::int64_t longest = 0;
  std::int64_t texts = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto own = model::whole_blocks(rows_to_come(*requests[i].asked, 0));
    longest = std::max(longest, tree.slots_of_beginning(i) + own);
    texts += own;
  }
  const auto all = std::max(longest, std::min(wave_rows, prompts + texts));
  return {std::min(prompts, all), all};
}

void generate(const GenerationParts& parts, std::span<const query::Query> queries,
              std::span<const QueryTokens> openings, std::span<query::Answer> answers, query::EngineCounts& counts,
              KeptTexts* kept) {
  const auto requests = distinct_requests(queries, openings);
  const auto most = most_kept_rows(queries, openings, parts.wave_rows, parts.model.shape().kernels);
  Texts(parts, requests, most.all, answers, counts, kept).run();
}

}  // namespace stereosweep::engine
