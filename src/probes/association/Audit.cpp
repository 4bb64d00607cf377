#include "probes/association/Audit.hpp"

#include <algorithm>

#include "base/Text.hpp"
#include "sweep/BlockSample.hpp"

namespace stereosweep::probes::association {

namespace {

class Auditor {
 public:
  Auditor(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens)
      : probe_(probe), tokenizer_(tokenizer), max_tokens_(max_tokens) {
    audit_.num_contexts = probe.blocks().product().num_contexts();
  }

  void read(const sweep::Block& block) {
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

}  // namespace

Audit audit(const AssociationProbe& probe, const tokenizer::Tokenizer& tokenizer, std::uint64_t max_tokens,
            std::uint64_t max_contexts) {
  Auditor auditor(probe, tokenizer, max_tokens);
  for (const auto& block : sweep::sample_blocks(probe.blocks(), max_contexts)) {
    auditor.read(block);
  }
  return auditor.take();
}

}  // namespace stereosweep::probes::association
