// Corpora that tests write.
#pragma once

#include <bzlib.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "corpus/Corpus.hpp"

namespace stereosweep::testing {

inline void write_text(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

/// One member.
inline std::string to_gzip(std::string_view content) {
  z_stream state{};
  deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string stored(deflateBound(&state, content.size()), '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  state.avail_in = static_cast<uInt>(content.size());
  state.next_out = reinterpret_cast<Bytef*>(stored.data());
  state.avail_out = static_cast<uInt>(stored.size());
  deflate(&state, Z_FINISH);
  stored.resize(state.total_out);
  deflateEnd(&state);
  return stored;
}

/// One stream.
inline std::string to_bzip2(std::string_view content) {
  auto length = static_cast<unsigned>(content.size() + content.size() / 100 + 600);
  std::string stored(length, '\0');
  BZ2_bzBuffToBuffCompress(stored.data(), &length, const_cast<char*>(content.data()),
                           static_cast<unsigned>(content.size()), 9, 0, 0);
  stored.resize(length);
  return stored;
}

/// One frame.
inline std::string to_zstd(std::string_view content) {
  std::string stored(ZSTD_compressBound(content.size()), '\0');
  stored.resize(ZSTD_compress(stored.data(), stored.size(), content.data(), content.size(), 3));
  return stored;
}

inline corpus::Corpus corpus_of(const std::filesystem::path& path) {
  corpus::Corpus corpus;
  corpus.files = {path.string()};
  return corpus;
}

}  // namespace stereosweep::testing
