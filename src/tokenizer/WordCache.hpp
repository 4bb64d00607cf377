// Tokens of pieces that were met before. A cache changes no answer: the model is a function of the piece.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/Model.hpp"

namespace stereosweep::tokenizer {

class WordCache {
 public:
  static constexpr std::size_t max_piece = 64;  ///< bytes; longer ones do not come again, and are not kept
  /// Tokens of `piece`; valid until the next call.
  std::span<const PieceToken> tokenize(const Model& model, std::string_view piece);

 private:
  struct Place {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  TextMap<Place> places_;
  std::vector<PieceToken> tokens_;
  std::vector<PieceToken> scratch_;
};

/// Hands each concurrent user a cache of its own.
class WordCachePool {
 public:
  class Lease {
   public:
    explicit Lease(WordCachePool& pool);
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();
    WordCache& operator*() { return *cache_; }

   private:
    WordCachePool& pool_;
    std::unique_ptr<WordCache> cache_;
  };

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<WordCache>> free_;
};

}  // namespace stereosweep::tokenizer
