#include "engine/causal/Generation.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/Error.hpp"
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
  const Opening* opening;
  const query::Generate* asked;
  std::vector<std::uint32_t> queries;
};

auto fields_of(const Request& request) {
  const auto& asked = *request.asked;
  return std::tie(request.opening->ids, asked.max_new_tokens, asked.temperature, asked.top_k, asked.top_p, asked.seed,
                  asked.stop, asked.repetition_penalty);
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

std::vector<const std::vector<TokenId>*> prompts_of(std::span<const Request> requests) {
  std::vector<const std::vector<TokenId>*> prompts;
  for (const auto& request : requests) {
    prompts.push_back(&request.opening->ids);
  }
  return prompts;
}

// On a device each level of a tree costs every step five kernels a layer. A first token that is common to all prompts
// (the one that begins every text) runs again instead.
std::size_t least_shared_by(model::Kernels kernels) { return kernels == model::Kernels::operators ? 2 : 1; }

// Rows that a text still adds to the tree when it has got `drawn` tokens: its last token does not run, but its prompt's
// last one runs with it.
std::int32_t rows_to_come(const query::Generate& asked, std::size_t drawn) {
  return static_cast<std::int32_t>(std::max<std::int64_t>(0, asked.max_new_tokens - static_cast<std::int64_t>(drawn)));
}

// The slots of these.
std::int64_t slots_to_come(const query::Generate& asked, std::size_t drawn) {
  return model::whole_blocks(rows_to_come(asked, drawn));
}

// The texts of a call. As many grow at once as may be remembered, each as long as it may become; where one ends, the
// next ones enter.
class Texts {
 public:
  Texts(const GenerationParts& parts, std::span<const Request> requests, std::int64_t most_rows,
        std::span<query::Answer> answers, query::EngineCounts& counts, KeptTexts* kept)
      : parts_(parts),
        requests_(requests),
        answers_(answers),
        counts_(counts),
        drawer_(parts.model.shape().kernels),
        kept_(kept),
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
      grow();
      step();
      const auto before = growing_.size();
      std::erase_if(growing_, [](const Growing& one) { return one.request == nullptr; });
      const bool any_ended = growing_.size() < before;
      if (any_ended || ++steps_since_tidy_ == steps_per_tidy) {
        tidy();
      }
      if (any_ended) {
        enter();
      }
    }
    if (kept_ != nullptr) {
      tidy();
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

  // Every token is a branch until then.
  static constexpr int steps_per_tidy = 16;

  GrowingTree tree_with(const model::TokenTree& kept) const {
    return {prompts_of(requests_), least_shared_by(parts_.model.shape().kernels), kept};
  }

  // At once, beside what is kept of them.
  bool all_have_room() const {
    auto slots = memory_->slots_in_use() + tree_.slots_of_beginnings() - tree_.planted_slots();
    for (const auto& request : requests_) {
      slots += slots_to_come(*request.asked, 0);
    }
    return slots <= parts_.wave_rows;
  }

  // Forgets what no text and not the next one needs.
  void tidy() {
    std::vector<std::int32_t> tips;
    for (const auto& one : growing_) {
      tips.push_back(one.branch);
    }
    tips.insert(tips.end(), ended_.begin(), ended_.end());
    const auto next = next_ < requests_.size() ? std::optional(next_) : std::nullopt;
    memory_->keep_only(tree_.keep_only(tips, next));
    for (std::size_t i = 0; i < growing_.size(); ++i) {
      growing_[i].branch = tips[i];
    }
    ended_.assign(tips.begin() + std::ssize(growing_), tips.end());
    steps_since_tidy_ = 0;
  }

  // Lets texts in, in their order, while there is room for all that they may become.
  void enter() {
    // Texts that draw alike share rows, and where one of them ends it may leave a block half used.
    auto taken = memory_->slots_in_use();
    auto planned = tree_.planted_slots();
    for (const auto& one : growing_) {
      taken += slots_to_come(*one.request->asked, one.text.size());
      planned += slots_to_come(*one.request->asked, 0);
    }
    auto slots = std::max(taken, planned);
    for (; next_ < requests_.size(); ++next_) {
      const auto& request = requests_[next_];
      NewText text(*request.asked, parts_.tokenizer, parts_.end_tokens);
      if (text.is_finished()) {
        write(request, text.take());
        continue;
      }
      slots += tree_.missing_slots(next_) + slots_to_come(*request.asked, 0);
      if (slots > parts_.wave_rows && !growing_.empty()) {
        return;
      }
      growing_.push_back({&request, std::move(text), tree_.plant(next_, rows_to_come(*request.asked, 0)),
                          request.opening->ids.back()});
      ++counts_.distinct_sequences;
    }
  }

  // Runs the tokens that are new, draws the next ones.
  void step() {
    std::map<std::int64_t, std::vector<Growing*>> readers;  // by row
    for (auto& one : growing_) {
      const auto& branch = tree_.tree().branches[static_cast<std::size_t>(one.branch)];
      readers[branch.first + branch.length - 1].push_back(&one);
    }
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> all;
    for (const auto& [row, who] : readers) {
      all.push_back(std::ssize(rows));
      rows.push_back(row);
    }
    counts_.distinct_tokens += static_cast<std::uint64_t>(std::ssize(tree_.tree().ids) - memory_->rows());
    counts_.head_rows += rows.size();
    ProjectionQueue projection(parts_.model.shape().vocabulary, parts_.model.shape().kernels);
    projection.add(timed("body", [&] { return parts_.model.extend(*memory_, tree_.tree(), rows); }), all);
    auto reader = readers.begin();
    while (projection.size() > 0) {
      const auto [hidden, count] = projection.take();
      const auto logits = timed("head", [&, &hidden = hidden] { return parts_.model.logits(hidden); });
      const base::profile::Span span("drawing");
      const std::vector<Readers> some(reader, std::next(reader, count));
      std::advance(reader, count);
      choose(some, logits);
    }
  }

  using Readers = std::pair<std::int64_t, std::vector<Growing*>>;

  // The next tokens, a row of logits for each of `readers`.
  void choose(std::span<const Readers> readers, const at::Tensor& logits) {
    std::vector<DrawTask> tasks;
    std::vector<Growing*> texts;
    for (std::size_t row = 0; row < readers.size(); ++row) {
      for (auto* one : readers[row].second) {
        tasks.push_back({static_cast<std::int64_t>(row), one->request->asked, one->text.size(),
                         one->request->opening->ids, one->text.ids()});
        texts.push_back(one);
      }
    }
    const auto drawn = drawer_.draw(logits, tasks);
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
    one.request = nullptr;
    if (kept_ != nullptr) {
      ended_.push_back(one.branch);
    }
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
      number = tree_.add(place.first, place.second, number);
    }
    for (auto& one : growing_) {
      one.branch = added[{one.branch, one.next}];
    }
  }

  const GenerationParts& parts_;
  std::span<const Request> requests_;
  std::span<query::Answer> answers_;
  query::EngineCounts& counts_;
  BatchSampler drawer_;
  KeptTexts* kept_;  ///< null: a text is forgotten when it ends
  GrowingTree tree_;
  std::unique_ptr<model::CausalModel::Memory> memory_;
  std::vector<Growing> growing_;
  std::vector<std::int32_t> ended_;  ///< branches of texts that are kept
  std::size_t next_ = 0;             ///< request that has not entered
  int steps_since_tidy_ = 0;
};

}  // namespace

model::KeptRows most_kept_rows(std::span<const query::Query> queries, std::span<const Opening> openings,
                               std::int64_t wave_rows, model::Kernels kernels) {
  const auto requests = distinct_requests(queries, openings);
  const GrowingTree tree(prompts_of(requests), least_shared_by(kernels));
  const auto prompts = tree.slots_of_beginnings();
  std::int64_t longest = 0;
  std::int64_t shortest_prompt = prompts;
  std::vector<std::int64_t> own;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    own.push_back(slots_to_come(*requests[i].asked, 0));
    longest = std::max(longest, tree.slots_of_beginning(i) + own.back());
    shortest_prompt = std::min(shortest_prompt, tree.slots_of_beginning(i));
  }
  // As many texts at once as fit if they are the shortest ones; they may be the longest ones.
  std::sort(own.begin(), own.end());
  std::size_t at_once = 0;
  for (auto left = wave_rows - shortest_prompt; at_once < own.size() && own[at_once] <= left; ++at_once) {
    left -= own[at_once];
  }
  const auto texts = std::accumulate(own.end() - static_cast<std::ptrdiff_t>(at_once), own.end(), std::int64_t{0});
  const auto all = std::max(longest, std::min(wave_rows, prompts + texts));
  return {std::min(prompts, all), all};
}

void generate(const GenerationParts& parts, std::span<const query::Query> queries, std::span<const Opening> openings,
              std::span<query::Answer> answers, query::EngineCounts& counts, KeptTexts* kept) {
  if (openings.empty()) {
    return;
  }
  const auto requests = distinct_requests(queries, openings);
  const auto most = most_kept_rows(queries, openings, parts.wave_rows, parts.model.shape().kernels);
  Texts(parts, requests, most.all, answers, counts, kept).run();
}

}  // namespace stereosweep::engine
