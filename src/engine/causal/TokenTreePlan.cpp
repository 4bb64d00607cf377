#include "engine/causal/TokenTreePlan.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "base/Lists.hpp"
#include "query/Sampling.hpp"

namespace stereosweep::engine {

std::size_t common_prefix(std::span<const query::TokenId> left, std::span<const query::TokenId> right) {
  return static_cast<std::size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
}

void TreeBuilder::add(std::span<const query::TokenId> ids, std::size_t shared) {
  path_.resize(shared);
  for (auto i = shared; i < ids.size(); ++i) {
    const auto row = static_cast<std::int32_t>(ids_.size());
    const auto parent = path_.empty() ? -1 : path_.back();
    if (parent >= 0 && parent + 1 != row) {
      ends_branch_[static_cast<std::size_t>(parent)] = 1;  // it has two children
    }
    ids_.push_back(ids[i]);
    parents_.push_back(parent);
    ends_branch_.push_back(0);
    path_.push_back(row);
  }
}

model::TokenTree TreeBuilder::take() {
  model::TokenTree tree;
  branch_of_.clear();
  for (std::size_t row = 0; row < ids_.size(); ++row) {
    const auto parent = parents_[row];
    const bool follows = parent >= 0 && static_cast<std::size_t>(parent) + 1 == row;
    if (!follows || ends_branch_[static_cast<std::size_t>(parent)] != 0) {
      model::TokenTree::Branch branch{static_cast<std::int32_t>(row), 0, -1, 0};
      if (parent >= 0) {
        branch.parent = branch_of_[static_cast<std::size_t>(parent)];
        const auto& above = tree.branches[static_cast<std::size_t>(branch.parent)];
        branch.depth = above.depth + above.length;
      }
      tree.branches.push_back(branch);
    }
    tree.branches.back().length += 1;
    branch_of_.push_back(static_cast<std::int32_t>(tree.branches.size() - 1));
  }
  tree.ids = std::exchange(ids_, {});
  parents_.clear();
  ends_branch_.clear();
  path_.clear();
  return tree;
}

namespace {

using query::TokenId;

struct CausalPreparer {
  const tokenizer::Tokenizer& tokenizer;
  const model::ModelShape& shape;
  InputPlan& plan;

  // These throw InputError where the query is at fault.
  query::Answer operator()(const query::Fill&) const {
    base::refuse("this model cannot answer 'fill'",
                 "it is a causal language model, which sees the text before a token");
  }

  query::Answer operator()(const query::Continue& asked) const {
    need_head("continue");
    query::ContinueAnswer room;
    const ContinuationBorder border(asked.prompt, tokenizer, asked.framing);
    for (const auto& continuation : asked.continuations) {
      auto [ids, begin] = border.join(continuation);
      check_input(ids, shape);
      auto& sequence = plan.sequences.emplace_back();
      sequence.layer = shape.num_layers;
      const auto part = static_cast<std::uint32_t>(room.logprob.size());
      for (std::size_t i = begin; i < ids.size(); ++i) {
        check_id(ids[i], shape.vocabulary);
        sequence.uses.push_back(
            {static_cast<std::int32_t>(i - 1), ids[i], plan.query(), part, static_cast<std::uint32_t>(i - begin)});
      }
      room.logprob.emplace_back(ids.size() - begin);
      ids.pop_back();
      sequence.ids = std::move(ids);
    }
    return room;
  }

  query::Answer operator()(const query::Embed& asked) const {
    const auto before = plan.sequences.size();
    auto answer = plan_vector(asked, tokenizer, shape, plan);
    for (auto& sequence : std::span(plan.sequences).subspan(before)) {  // what follows is not seen
      sequence.ids.resize(static_cast<std::size_t>(sequence.uses.back().position) + 1);
    }
    return answer;
  }

  query::Answer operator()(const query::Generate& asked) const {
    need_head("generate");
    query::check_sampling(asked);
    base::refuse_if(base::contains(asked.stop, ""), "a stop string is empty", "every text holds it");
    if (asked.thought &&
        tokenizer.encode(asked.thought->closing_text, tokenizer::SpecialTokens::leave_out).ids.empty()) {
      base::refuse("the closing text " + base::json_quote(asked.thought->closing_text) + " has no tokens",
                   "a thought that is too long cannot be closed with it");
    }
    auto ids = encode_input(asked.prompt, tokenizer, special_tokens_of(asked.framing), shape).ids;
    base::refuse_if(ids.empty(), "nothing stands before the first new token",
                    "the prompt is empty, and this tokenizer puts no token before a text");
    if (std::ssize(ids) + asked.max_new_tokens > shape.max_tokens) {
      throw TooLong(
          base::describe("the text may become too long", std::to_string(ids.size()) + " tokens and max_new_tokens " +
                                                             std::to_string(asked.max_new_tokens) +
                                                             ", the model takes " + std::to_string(shape.max_tokens)));
    }
    plan.openings.push_back({std::move(ids), plan.query()});
    return query::GenerateAnswer{};
  }

  void need_head(const std::string& kind) const {
    base::refuse_if(!shape.has_head, "this model cannot answer '" + kind + "'",
                    "its checkpoint has no language-model head");
  }
};

bool comes_before(const Sequence& left, const Sequence& right) {
  return left.layer != right.layer ? left.layer < right.layer : left.ids < right.ids;
}

// Of sorted sequences keeps those that no other one begins with; these take over what the others read.
std::vector<Sequence> leaves_of(std::vector<Sequence> sorted) {
  std::vector<Sequence> leaves;
  for (auto& next : sorted) {
    const bool continues = !leaves.empty() && leaves.back().layer == next.layer;
    const auto shared = continues ? common_prefix(leaves.back().ids, next.ids) : 0;
    if (continues && shared == leaves.back().ids.size()) {
      auto& last = leaves.back();
      last.ids = std::move(next.ids);
      last.uses.insert(last.uses.end(), next.uses.begin(), next.uses.end());
    } else {
      leaves.push_back(std::move(next));
      leaves.back().shared = shared;
    }
  }
  return leaves;
}

// Every row is read in the first sequence that has it.
void move_reads_forward(std::vector<Sequence>& leaves) {
  for (auto i = leaves.size(); i-- > 0;) {
    auto& uses = leaves[i].uses;
    std::sort(uses.begin(), uses.end());
    const auto shared = static_cast<std::int32_t>(leaves[i].shared);
    const auto own = std::find_if(uses.begin(), uses.end(), [&](const auto& use) { return use.position >= shared; });
    if (own != uses.begin()) {
      leaves[i - 1].uses.insert(leaves[i - 1].uses.end(), uses.begin(), own);
      uses.erase(uses.begin(), own);
    }
  }
}

}  // namespace

InputPlan plan_causal(std::span<const query::Query> queries, const tokenizer::Tokenizer& tokenizer,
                      const model::ModelShape& shape) {
  InputPlan plan;
  plan_queries(queries, CausalPreparer{tokenizer, shape, plan}, plan.answers, plan.sequences);
  for (const auto& sequence : plan.sequences) {
    plan.naive_tokens += sequence.ids.size();
  }
  std::sort(plan.sequences.begin(), plan.sequences.end(), comes_before);
  plan.sequences = leaves_of(std::move(plan.sequences));
  move_reads_forward(plan.sequences);
  return plan;
}

std::vector<BatchRange> cut_trees(std::span<const Sequence> sequences, std::int64_t budget) {
  // cost[i]: of the best cut of the first i sequences. A batch [j, i) runs ends[i] - ends[j] + shared[j] tokens, so as
  // i grows, a j that is too far away stays so: a heap whose top is thrown away then finds the best j.
  constexpr std::int64_t tokens_per_batch = 16;  // what starting a batch costs, roughly
  struct Start {
    std::int64_t cost;
    std::size_t first;
    auto operator<=>(const Start&) const = default;
  };
  const auto shared = [&](std::size_t i) { return static_cast<std::int64_t>(sequences[i].shared); };
  const auto starts_layer = [&](std::size_t i) { return sequences[i].layer != sequences[i - 1].layer; };
  std::vector<std::int64_t> ends(sequences.size() + 1);
  std::vector<std::int64_t> cost(sequences.size() + 1);
  std::vector<std::size_t> from(sequences.size() + 1);
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (i > 0 && starts_layer(i)) {
      starts = {};
    }
    ends[i + 1] = ends[i] + std::ssize(sequences[i].ids) - shared(i);
    starts.push({cost[i] + shared(i) + tokens_per_batch, i});
    const auto fits = [&](std::size_t first) { return ends[i + 1] - ends[first] + shared(first) <= budget; };
    while (starts.size() > 1 && !fits(starts.top().first)) {
      starts.pop();
    }
    // Only the newest start may hold a batch beyond the budget: one long sequence.
    const auto best = fits(starts.top().first) ? starts.top() : Start{cost[i] + shared(i) + tokens_per_batch, i};
    cost[i + 1] = best.cost;
    from[i + 1] = best.first;
  }
  std::vector<BatchRange> batches;
  for (auto last = sequences.size(); last > 0; last = from[last]) {
    batches.push_back({from[last], last});
  }
  std::reverse(batches.begin(), batches.end());
  return batches;
}

ForwardBatch<model::TokenTree> pack_tree(std::span<const Sequence> sequences) {
  ForwardBatch<model::TokenTree> batch;
  TreeBuilder builder;
  for (std::size_t number = 0; number < sequences.size(); ++number) {
    const auto& sequence = sequences[number];
    builder.add(sequence.ids, number == 0 ? 0 : sequence.shared);
    batch.read(sequence, [&](std::int64_t position) { return builder.path()[static_cast<std::size_t>(position)]; });
  }
  batch.input = builder.take();
  return batch;
}

CausalCounts count_causal(const InputPlan& plan, std::int64_t budget) {
  CausalCounts counts;
  counts.sequences = plan.sequences.size();
  counts.naive_tokens = plan.naive_tokens;
  for (const auto& sequence : plan.sequences) {
    counts.tokens += sequence.ids.size() - sequence.shared;
    for (std::size_t i = 0; i < sequence.uses.size(); ++i) {
      // Vectors sort before tokens: the last use of a position tells whether its row is projected.
      const bool is_last = i + 1 == sequence.uses.size() || sequence.uses[i + 1].position != sequence.uses[i].position;
      counts.head_rows += is_last && sequence.uses[i].token != Use::whole_vector ? 1 : 0;
    }
  }
  for (const auto& batch : cut_trees(plan.sequences, budget)) {
    ++counts.batches;
    counts.repeated_tokens += plan.sequences[batch.first].shared;
  }
  counts.tokens += counts.repeated_tokens;
  return counts;
}

}  // namespace stereosweep::engine
