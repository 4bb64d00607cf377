// A tiny BERT whose tokens are letters.
#pragma once

#include <cstdint>
#include <string>

#include "model/TinyCheckpoint.hpp"

namespace stereosweep::engine::testing {

/// Ids 0 to 4 are the special tokens (4: the mask), then a to z, then ##a to ##e.
inline base::FileSet letter_files(std::int64_t layers = model::testing::tiny_layers) {
  auto files = model::testing::tiny_checkpoint("bert", layers).files();
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    vocabulary += std::string(1, letter) + "\n";
  }
  for (char letter = 'a'; letter <= 'e'; ++letter) {
    vocabulary += "##" + std::string(1, letter) + "\n";
  }
  files.add("vocab.txt", base::to_shared(vocabulary));
  return files;
}

}  // namespace stereosweep::engine::testing
