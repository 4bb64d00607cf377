#include "probe/Audit.hpp"

#include <algorithm>

#include "base/Text.hpp"

namespace stereosweep::probe {

namespace {

class Auditor {
 public:
  Auditor(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens)
      : probe_(probe), tokenizer_(tokenizer), max_tokens_(max_tokens) {
    audit_.num_contexts = probe.blocks().product().num_contexts();
  }

  void read(const plan::Block& block) {
    const auto block_views = probe_.views_of(block);
    for (std::size_t i = 0; i < block_views.views.size(); ++i) {
      const ContextView& view = block_views.views[i];
      ++audit_.contexts_read;
      audit_.cells_read += probe_.words().size();
      audit_.prompt_bytes += view.text.before.size() + view.text.after.size();
      if (view.targets == nullptr) {
        audit_.cells_by_status[static_cast<int>(CellStatus::no_form)] += probe_.words().size();
        ++audit_.problems[view.problem];
        continue;
      }
      count_cells(*view.targets);
      if (block_views.same_as[i] == i) {
        count_queries(view);
      }
      if (plans_seen_.insert(view.targets).second) {
        read_pieces(view);
      }
    }
  }

  Audit take() { return std::move(audit_); }

 private:
  void count_cells(const TargetPlan& targets) {
    for (const auto& word : targets.words) {
      ++audit_.cells_by_status[static_cast<int>(word.status)];
      for (const auto& place : word.places) {
        audit_.forwards_alone += place.ask == Place::nowhere ? 0 : 1;
      }
    }
  }

  void count_queries(const ContextView& view) {
    // Every further mask is one further token: masks are added tokens and never merge.
    const auto one_mask = tokenizer_.encode(probe_.masked_text(view, 1), tokenizer::SpecialTokens::add).ids.size();
    for (const auto& ask : view.targets->asks) {
      const std::uint64_t length = one_mask + ask.num_masks - 1;
      ++audit_.queries;
      audit_.numbers += ask.targets.size();
      audit_.tokens += length;
      audit_.longest = std::max(audit_.longest, length);
      audit_.too_long += max_tokens_ > 0 && length > max_tokens_ ? 1 : 0;
    }
  }

  std::string spelled(const WordPieces& pieces) const {
    std::vector<std::string> texts;
    for (const auto id : pieces.ids) {
      texts.emplace_back(tokenizer_.token_of(id).value_or("?"));
    }
    return base::join(texts, " ");
  }

  void read_pieces(const ContextView& view) {
    const auto pieces = probe_.plans().pieces(view.text, view.word_case);
    const auto& words = probe_.plans().words(view.word_case);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (pieces[i].status == PieceStatus::joins) {
        audit_.joins[words[i]].insert(view.text.before + "{trait}" + view.text.after);
      } else if (pieces[i].status == PieceStatus::ok && pieces[i].ids.size() > 1) {
        audit_.splits[words[i]].insert(spelled(pieces[i]));
      } else if (pieces[i].status != PieceStatus::ok) {
        audit_.unknown[words[i]].insert(spelled(pieces[i]));
      }
    }
  }

  const AssociationProbe& probe_;
  const tokenizer::Tokenizer& tokenizer_;
  std::uint64_t max_tokens_;
  std::set<std::shared_ptr<const TargetPlan>> plans_seen_;
  Audit audit_;
};

/// Begin of the i-th of `parts` nearly equal parts; the product may pass 2^64.
std::uint64_t share(std::uint64_t i, std::uint64_t whole, std::uint64_t parts) {
  return static_cast<std::uint64_t>(static_cast<__uint128_t>(i) * whole / parts);
}

/// A fixed, patternless number: equal steps could meet the same template again and again (splitmix64's finaliser).
std::uint64_t scatter(std::uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15U;
  i = (i ^ (i >> 30U)) * 0xbf58476d1ce4e5b9U;
  i = (i ^ (i >> 27U)) * 0x94d049bb133111ebU;
  return i ^ (i >> 31U);
}

}  // namespace

Audit audit(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens,
            std::uint64_t max_contexts) {
  Auditor auditor(probe, tokenizer, max_tokens);
  const plan::BlockPlan& blocks = probe.blocks();
  const std::uint64_t num_blocks = blocks.num_blocks();
  const std::uint64_t num_contexts = blocks.product().num_contexts();
  const bool all = num_contexts <= max_contexts;
  const std::uint64_t mean_block = num_blocks == 0 ? 1 : num_contexts / num_blocks;
  const std::uint64_t wanted = all ? num_blocks : std::clamp<std::uint64_t>(max_contexts / mean_block, 1, num_blocks);
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t begin = share(i, num_blocks, wanted);
    plan::Block block = blocks.block(begin + scatter(i) % (share(i + 1, num_blocks, wanted) - begin));
    block.num_contexts = std::min(block.num_contexts, max_contexts);  // a single block may be the whole product
    auditor.read(block);
  }
  return auditor.take();
}

}  // namespace stereosweep::probe
