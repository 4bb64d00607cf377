#include "tokenizer/WordCache.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::size_t max_places = std::size_t{1} << 16;

}  // namespace

std::span<const PieceToken> WordCache::tokenize(const Model& model, std::string_view piece) {
  if (piece.size() > max_piece) {
    scratch_.clear();
    model.tokenize(piece, scratch_);
    return scratch_;
  }
  auto it = places_.find(piece);
  if (it == places_.end()) {
    if (places_.size() >= max_places) {
      places_.clear();
      tokens_.clear();
    }
    const auto begin = static_cast<std::uint32_t>(tokens_.size());
    model.tokenize(piece, tokens_);
    it = places_.emplace(piece, Place{begin, static_cast<std::uint32_t>(tokens_.size()) - begin}).first;
  }
  return std::span(tokens_).subspan(it->second.begin, it->second.count);
}

WordCachePool::Lease::Lease(WordCachePool& pool) : pool_(pool) {
  {
    const std::lock_guard lock(pool_.mutex_);
    if (!pool_.free_.empty()) {
      cache_ = std::move(pool_.free_.back());
      pool_.free_.pop_back();
    }
  }
  if (!cache_) {
    cache_ = std::make_unique<WordCache>();
  }
}

WordCachePool::Lease::~Lease() {
  const std::lock_guard lock(pool_.mutex_);
  pool_.free_.push_back(std::move(cache_));
}

}  // namespace stereosweep::tokenizer
